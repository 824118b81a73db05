/** One run of the playground: the request, what came of it, and when; bounded however long it goes on. */

import { ApiError, address, askSession, session } from '../../api.js';
import { errorText, readEvent, readWhole, tokens } from './dialects.js';
import { EventReader } from './events.js';

const MOST_EVENTS = 5000;
const MOST_RAW = 4_000_000;
const MOST_TEXT = 1_000_000;
const MOST_MARKS = 20_000;
const CHUNK = 8192;

/** Where a run is: not begun, waiting for the head, answering, or over in one of three ways. */
export const phases = ['idle', 'asking', 'answering', 'done', 'stopped', 'failed'];

/** A text that grows: chunks of a bounded size, so that drawing it costs no more the longer it gets. */
class Growing {
  constructor() {
    this.chunks = [];
    this.length = 0;
    this.cut = false;
  }

  add(piece) {
    if (!piece || this.cut) return;
    const room = MOST_TEXT - this.length;
    this.cut = piece.length > room;
    const text = this.cut ? piece.slice(0, room) : piece;
    const last = this.chunks.length - 1;
    if (last >= 0 && this.chunks[last].length + text.length <= CHUNK) this.chunks[last] += text;
    else this.chunks.push(text);
    this.length += text.length;
  }

  toString() {
    return this.chunks.join('');
  }
}

/** What is known of a run. `changed()` is called whenever there is more. */
export class Run {
  constructor(protocol, changed) {
    this.protocol = protocol;
    this.changed = changed;
    this.phase = 'asking';
    this.abort = new AbortController();
    this.began = performance.now();
    this.status = null;
    this.requestId = null;
    this.warnings = [];
    this.headAt = null;
    this.firstAt = null;
    this.endAt = null;
    this.text = new Growing();
    this.reasoning = new Growing();
    this.tool = new Growing();
    this.usage = null;
    this.finish = null;
    this.error = null;
    this.whole = null;
    this.events = [];
    this.dropped = 0;
    this.raw = 0;
    this.marks = [];
    this.keepalives = 0;
    this.ended = false;
  }

  /** Milliseconds since the request was sent. */
  now() {
    return performance.now() - this.began;
  }

  stop() {
    this.abort.abort();
  }

  get over() {
    return this.endAt !== null;
  }

  /** Tokens of the usage, in any protocol the same; null while none is told. */
  get tokens() {
    return tokens(this.protocol, this.usage);
  }

  /** The longest time without an event between two of them, in milliseconds; null where there are not two. */
  get longestGap() {
    let longest = null;
    for (let index = 1; index < this.marks.length; index += 1) {
      const gap = this.marks[index].at - this.marks[index - 1].at;
      if (longest === null || gap > longest) longest = gap;
    }
    return longest;
  }

  /** Send the body (JSON text) and read the answer to its end. Never throws. */
  async ask(body, key) {
    try {
      const response = await sent(this.protocol, body, key, this.abort.signal);
      this.head(response);
      if (response.headers.get('content-type')?.startsWith('text/event-stream')) await this.stream(response);
      else await this.document(response);
      this.finishAs(this.error || !response.ok ? 'failed' : 'done');
    } catch (error) {
      if (this.abort.signal.aborted) return this.finishAs('stopped');
      if (!error.kind) console.error(error);
      this.error = error.kind ? error : new ApiError('network', 0, {}, null);
      return this.finishAs('failed');
    }
    return undefined;
  }

  head(response) {
    this.phase = 'answering';
    this.status = response.status;
    this.headAt = this.now();
    this.requestId = response.headers.get('x-request-id');
    this.warnings = response.headers.get('x-tidegate-warnings')?.split(', ') ?? [];
    this.changed();
  }

  async stream(response) {
    const reader = new EventReader();
    const body = response.body.getReader();
    for (;;) {
      const { done, value } = await cutOffIsNoEnd(body.read(), this.abort.signal);
      if (done) break;
      this.take(reader.feed(value, this.now()));
    }
    this.take(reader.end(this.now()));
    if (!this.ended && !this.error) this.error = 'unfinished';
  }

  async document(response) {
    const text = await response.text();
    if (response.headers.get('content-type')?.startsWith('application/problem+json')) throw problemOf(response, text);
    this.whole = text.length > MOST_RAW ? text.slice(0, MOST_RAW) : text;
    let value = null;
    try {
      value = JSON.parse(text);
    } catch {
      // Shown as it is.
    }
    const told = response.ok ? readWhole(this.protocol, value) : { error: errorText(value) ?? (text.slice(0, 500) || `${response.status}`) };
    this.note(told, this.now());
  }

  take(found) {
    for (const event of found) {
      const told = event.kind === 'event' ? readEvent(this.protocol, event) : {};
      this.mark(event, told);
      this.keep(event);
      this.note(told, event.at);
    }
    if (found.length) this.changed();
  }

  note(told, at) {
    if (this.firstAt === null && (told.text || told.reasoning || told.tool)) this.firstAt = at;
    this.text.add(told.text);
    this.reasoning.add(told.reasoning);
    this.tool.add(told.tool);
    if (told.usage) this.usage = { ...this.usage, ...told.usage };
    if (told.finish) this.finish = told.finish;
    if (told.error) this.error = told.error;
    if (told.end) this.ended = true;
  }

  mark(event, told) {
    const kind = kindOf(event, told);
    if (kind === 'keepalive') this.keepalives += 1;
    if (this.marks.length < MOST_MARKS) this.marks.push({ at: event.at, kind });
  }

  keep(event) {
    this.events.push({ ...event, number: this.dropped + this.events.length + 1 });
    this.raw += event.raw.length;
    let gone = 0;
    while (this.events.length - gone > MOST_EVENTS || (this.raw > MOST_RAW && gone < this.events.length - 1)) {
      this.raw -= this.events[gone].raw.length;
      gone += 1;
    }
    if (gone) this.events.splice(0, gone);
    this.dropped += gone;
  }

  finishAs(phase) {
    this.phase = phase;
    this.endAt = this.now();
    this.changed();
  }
}

function kindOf(event, told) {
  if (event.kind === 'comment') return 'keepalive';
  if (event.kind === 'torn' || told.error) return 'error';
  if (told.end) return 'end';
  if (told.text || told.tool) return 'text';
  return told.reasoning ? 'reasoning' : 'other';
}

async function sent(protocol, body, key, signal) {
  const ask = () => {
    const headers = { 'content-type': 'application/json', 'x-csrf-token': session.get().csrf ?? '' };
    const init = { method: 'POST', headers, body, signal, credentials: 'same-origin', cache: 'no-store', redirect: 'error' };
    return fetch(address(`playground/${protocol}`, { key }), init);
  };
  const response = await reached(ask());
  const refused = response.headers.get('content-type')?.startsWith('application/problem+json');
  if (!refused || response.status !== 403) return response;
  await askSession(); // another tab may have signed in anew
  return reached(ask());
}

async function reached(asked) {
  try {
    return await asked;
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError('network', 0, {}, null);
  }
}

/** A connection that breaks in mid-answer is told as that. */
async function cutOffIsNoEnd(reading, signal) {
  try {
    return await reading;
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ApiError('cut', 0, {}, null);
  }
}

function problemOf(response, text) {
  let told = {};
  try {
    told = JSON.parse(text);
  } catch {
    // The status has to do.
  }
  if (response.status === 401 && session.get().state === 'in') session.set({ state: 'expired' });
  const kinds = { 401: 'signed-out', 404: 'missing', 503: 'away' };
  return new ApiError(kinds[response.status] ?? 'refused', response.status, told, null);
}
