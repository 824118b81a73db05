/** The admin API: one way to ask it, its errors, its session, and whether it is to be reached. */

import { setClock } from './clock.js';
import { store } from './store.js';

const PREFIX = '/admin/v1/';

/**
 * Who is signed in: `state` is `asking` (not known yet), `out`, `in` or `expired`; with `in` also `operator`,
 * `csrf` and `expires_at`.
 */
export const session = store({ state: 'asking' });

/** Whether answers come: `ok`, `network` (no answer at all) or `database` (the gateway says 503). */
export const connection = store('ok');

/** An error answer. `kind`: `network`, `away`, `signed-out`, `missing`, `conflict`, `changed`, `throttled`, `refused`. */
export class ApiError extends Error {
  constructor(kind, status, told, retryAfter) {
    super(told.detail ?? told.title ?? '');
    this.kind = kind;
    this.status = status;
    /** What the gateway says, in English; empty where it says nothing. */
    this.detail = told.detail ?? '';
    /** The query parameter or field that is wrong, or null. */
    this.parameter = told.parameter ?? null;
    /** Each wrong setting: `{field, message, mend}`. */
    this.faults = told.errors ?? [];
    /** Seconds to wait, or null. */
    this.retryAfter = retryAfter;
  }

  /** Might the same question be answered in a moment? */
  get passing() {
    return this.kind === 'network' || this.kind === 'away';
  }
}

/** The address of a path of the API, with a query; null, undefined and empty values are left out. */
export function address(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const text = new URLSearchParams(given).toString();
  return PREFIX + path + (text ? `?${text}` : '');
}

/** A name as a part of a path. */
export const part = encodeURIComponent;

/** The JSON body of a GET. */
export async function get(path, query, { signal } = {}) {
  return (await ask('GET', path, { query, signal })).body;
}

/** The JSON body and `etag` of a GET. */
export function read(path, { signal } = {}) {
  return ask('GET', path, { signal });
}

/** A change: POST, PATCH or DELETE. Gives `{status, body, etag}`; `ifMatch` is the etag that was read. */
export function change(method, path, { body, query, ifMatch, signal } = {}) {
  return ask(method, path, { body, query, ifMatch, signal });
}

/** The raw response, for answers that are read as they come. Errors are thrown as of the others. */
export async function open(method, path, { body, query, signal } = {}) {
  return answered(method, path, { body, query, signal });
}

async function ask(method, path, options) {
  const response = await answered(method, path, options);
  const etag = response.headers.get('etag');
  const body = response.status === 204 ? null : await bodyOf(response, path);
  return { status: response.status, body, etag };
}

async function bodyOf(response, path) {
  try {
    return await response.json();
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    missed(path, 'network');
    throw new ApiError('network', response.status, {}, null);
  }
}

async function answered(method, path, options) {
  const response = await sent(method, path, options);
  if (response.ok) {
    reached(path, true);
    return response;
  }
  const error = await failure(response);
  // Another tab may have signed in anew: its session has another token against forged requests.
  if (error.status === 403 && method !== 'GET' && (await renewed())) {
    const again = await sent(method, path, options);
    if (again.ok) return again;
    throw await failure(again);
  }
  if (error.kind === 'away') missed(path, 'database');
  else reached(path, false);
  if (error.kind === 'signed-out' && session.get().state === 'in') session.set({ state: 'expired' });
  throw error;
}

async function sent(method, path, { body, query, ifMatch, signal }) {
  const headers = { accept: 'application/json' };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (ifMatch) headers['if-match'] = ifMatch;
  if (method !== 'GET' && session.get().csrf) headers['x-csrf-token'] = session.get().csrf;
  const init = { method, headers, signal, credentials: 'same-origin', cache: 'no-store', redirect: 'error' };
  if (body !== undefined) init.body = typeof body === 'string' ? body : JSON.stringify(body);
  try {
    const response = await fetch(address(path, query), init);
    setClock(response.headers.get('date'));
    return response;
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    missed(path, 'network');
    throw new ApiError('network', 0, {}, null);
  }
}

const KINDS = { 401: 'signed-out', 404: 'missing', 409: 'conflict', 412: 'changed', 429: 'throttled' };

async function failure(response) {
  let told = {};
  try {
    told = await response.json();
  } catch {
    // Not from the gateway: a proxy's page, or nothing. The status has to do.
  }
  const kind = KINDS[response.status] ?? ([502, 503, 504].includes(response.status) ? 'away' : 'refused');
  const wait = Number(response.headers.get('retry-after'));
  return new ApiError(kind, response.status, told ?? {}, wait > 0 ? wait : null);
}

// What does not answer now, by path: the banner stays until each of them has answered or was given up.
const missing = new Map();
/** Milliseconds after which nobody asks for a path any more: who does, asks every half minute. */
const GIVEN_UP = 45000;

function missed(path, kind) {
  clearTimeout(missing.get(path)?.timer);
  const timer = setTimeout(() => {
    missing.delete(path);
    tell();
  }, GIVEN_UP);
  missing.set(path, { kind, timer });
  tell();
}

function reached(path, well) {
  for (const [one, { kind, timer }] of missing) {
    if (kind !== 'network' && !(well && one === path)) continue;
    clearTimeout(timer);
    missing.delete(one);
  }
  tell();
}

/** Nobody waits for these answers any more. */
export function forgetTrouble() {
  for (const { timer } of missing.values()) clearTimeout(timer);
  missing.clear();
  tell();
}

function tell() {
  const kinds = [...missing.values()].map(({ kind }) => kind);
  connection.set(kinds.includes('network') ? 'network' : kinds.includes('database') ? 'database' : 'ok');
}

/** Look whether the browser's cookie is still good. */
export async function askSession() {
  try {
    const told = await get('session');
    session.set({ state: 'in', ...told });
  } catch (error) {
    if (error.kind === 'signed-out') session.set({ state: 'out' });
    throw error;
  }
}

/** Sign in with an admin token. Throws ApiError: `signed-out` for a wrong one, `throttled` with `retryAfter`. */
export async function signIn(token) {
  const { body } = await change('POST', 'session', { body: { token } });
  session.set({ state: 'in', ...body });
}

/** End the session on the gateway and here. */
export async function signOut() {
  try {
    await change('DELETE', 'session');
  } catch (error) {
    if (error.kind !== 'signed-out') throw error;
  }
  forgetTrouble();
  session.set({ state: 'out' });
}

async function renewed() {
  const before = session.get().csrf;
  try {
    await askSession();
  } catch {
    return false;
  }
  return session.get().csrf !== before;
}
