/** A stream of server-sent events as it comes: bytes in, events out, each with the moment it came. */

/**
 * Reads the bytes of one stream.
 *
 * `feed(bytes, at)` gives what became whole: `{kind: 'event', name, data, raw, at}` or
 * `{kind: 'comment', data, raw, at}`. `at` is whatever the caller measures time in. A comment inside an event is
 * given before it. Line ends may be LF, CR LF or CR.
 */
export class EventReader {
  constructor() {
    this.decoder = new TextDecoder('utf-8');
    this.rest = '';
    this.begin();
  }

  begin() {
    this.name = null;
    this.lines = [];
    this.raw = '';
  }

  feed(bytes, at) {
    return this.read(this.decoder.decode(bytes, { stream: true }), at);
  }

  /** What is left when the stream ends: an event that was not closed is no event, but it is shown. */
  end(at) {
    const found = this.read(this.decoder.decode(), at);
    if (this.rest.endsWith('\r')) {
      this.line(this.rest.slice(0, -1), this.rest, found, at);
      this.rest = '';
    }
    if (this.rest) this.line(this.rest, this.rest, found, at);
    this.rest = '';
    if (this.raw) found.push({ kind: 'torn', name: this.name, data: this.lines.join('\n'), raw: this.raw, at });
    this.begin();
    return found;
  }

  read(text, at) {
    this.rest += text;
    const found = [];
    const ends = /\r\n|\n|\r(?!$)/g; // a CR at the very end may be the first half of CR LF
    let from = 0;
    for (let end = ends.exec(this.rest); end; end = ends.exec(this.rest)) {
      const next = end.index + end[0].length;
      this.line(this.rest.slice(from, end.index), this.rest.slice(from, next), found, at);
      from = next;
    }
    this.rest = this.rest.slice(from);
    return found;
  }

  line(text, raw, found, at) {
    if (text === '') {
      if (this.raw) found.push({ kind: 'event', name: this.name, data: this.lines.join('\n'), raw: this.raw, at });
      this.begin();
      return;
    }
    if (text.startsWith(':')) {
      found.push({ kind: 'comment', name: null, data: text.slice(1).trimStart(), raw, at });
      return;
    }
    this.raw += raw;
    const [, field, value] = /^([^:]*):? ?([\s\S]*)$/.exec(text);
    if (field === 'data') this.lines.push(value);
    if (field === 'event') this.name = value;
  }
}
