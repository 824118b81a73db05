/** The state of a form over one entry: its draft, saving it, and what to do when someone else was quicker. */

import { change, get, part, read } from '../../api.js';
import { leaveFreely } from '../../router.js';
import { useState } from '../../view.js';
import { changes, differences, draftOf, emptyDraft, firstDraft } from './kinds.js';

/**
 * A form over `fields` of something of a `kind`; `stored` is `{entry, etag}`, or null for something new.
 *
 * `onDone(entry)` is called once it is saved. Gives the draft, `put(name, value)`, `save()`, `busy`, `error`, and
 * `meanwhile`, what another operator saved: `{entry, fields, change, take, keep}`.
 */
export function useSaving(kind, fields, stored, onDone) {
  const [base, setBase] = useState(() => (stored ? draftOf(fields, stored.entry) : emptyDraft(fields)));
  const [draft, setDraft] = useState(() => (stored ? draftOf(fields, stored.entry) : firstDraft(fields)));
  const [etag, setEtag] = useState(stored?.etag ?? null);
  const [entry, setEntry] = useState(stored?.entry ?? null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  const [theirs, setTheirs] = useState(null);

  const begin = (next, kept) => {
    const fresh = draftOf(fields, next.entry);
    setBase(fresh);
    setDraft({ ...fresh, ...kept });
    setEntry(next.entry);
    setEtag(next.etag);
    setTheirs(null);
    setError(null);
  };

  const save = async () => {
    if (busy) return;
    setBusy(true);
    setError(null);
    try {
      const saved = await send(kind, { entry, etag, body: changes(fields, base, draft) });
      setBase(draft); // nothing is unsaved any more
      leaveFreely();
      onDone(saved);
    } catch (caught) {
      setError(caught);
      if (!caught.kind) console.error(caught);
      if (caught.kind === 'changed') setTheirs(await newest(kind, entry.name).catch(() => null));
    } finally {
      setBusy(false);
    }
  };

  return {
    draft,
    entry,
    busy,
    error,
    dirty: differences(fields, base, draft).length > 0,
    put: (name, value) => setDraft((old) => ({ ...old, [name]: value })),
    save,
    meanwhile: theirs && conflict({ fields, base, draft, theirs, begin }),
  };
}

/** The entry as it is then; nothing is sent where nothing was changed. */
async function send(kind, { entry, etag, body }) {
  if (!entry) return (await change('POST', kind, { body })).body;
  if (Object.keys(body).length === 0) return entry;
  return (await change('PATCH', `${kind}/${part(entry.name)}`, { body, ifMatch: etag })).body;
}

/** The entry as it is now, with who changed it last where that is known. */
async function newest(kind, name) {
  const { body, etag } = await read(`${kind}/${part(name)}`);
  const told = await get('audit', { kind, name, limit: 1 }).catch(() => null);
  return { entry: body, etag, change: told?.data?.[0] ?? null };
}

function conflict({ fields, base, draft, theirs, begin }) {
  const now = draftOf(fields, theirs.entry);
  const mine = differences(fields, base, draft);
  const changed = new Set([...differences(fields, base, now), ...mine]);
  const shown = fields.filter(({ name }) => changed.has(name));
  return {
    change: theirs.change,
    fields: shown.map((field) => ({
      field,
      before: base[field.name],
      now: now[field.name],
      yours: mine.includes(field.name) ? draft[field.name] : undefined,
    })),
    take: () => begin(theirs, {}),
    keep: () => begin(theirs, Object.fromEntries(mine.map((name) => [name, draft[name]]))),
  };
}
