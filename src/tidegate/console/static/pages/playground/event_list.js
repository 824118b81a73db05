/** The raw events of a stream: only those in view are drawn, whatever their number. */

import { plain, whole } from '../../format.js';
import { useWords } from '../../i18n.js';
import { Block } from '../../components/text.js';
import { html, useEffect, useId, useLayoutEffect, useRef, useState } from '../../view.js';
import { strings } from './playground.strings.js';

const ROW = 24;
const SPARE = 6;
const SHOWN_OF_ROW = 300;
const SHOWN_OF_EVENT = 100_000;

/** `run` has the events; `turn` changes whenever there are more. Follows the newest until the reader scrolls up. */
export function EventList({ run, turn }) {
  const t = useWords(strings);
  const box = useRef(null);
  const id = useId();
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(0);
  const [chosen, setChosen] = useState(null);
  const follow = useRef(true);
  const events = run?.events ?? [];
  const offset = events.length ? events[0].number : 1;

  useEffect(() => setChosen(null), [run]);
  useEffect(() => {
    const own = box.current;
    const watch = new ResizeObserver(() => setHeight(own.clientHeight));
    watch.observe(own);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (follow.current) box.current.scrollTop = box.current.scrollHeight;
  }, [turn, run]);

  const scrolled = () => {
    const { scrollTop, scrollHeight, clientHeight } = box.current;
    follow.current = scrollTop + clientHeight >= scrollHeight - ROW;
    setTop(scrollTop);
  };
  const choose = (number) => {
    const next = Math.min(Math.max(number, offset), offset + events.length - 1);
    follow.current = false;
    setChosen(next);
    reveal(box.current, (next - offset) * ROW);
  };
  const pressed = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined || !events.length) return;
    event.preventDefault();
    const from = chosen ?? (step > 0 ? offset - 1 : offset + events.length);
    choose(Number.isFinite(step) ? from + step : step < 0 ? offset : offset + events.length - 1);
  };

  const first = Math.max(0, Math.floor(top / ROW) - SPARE);
  const shown = events.slice(first, first + Math.ceil(height / ROW) + 2 * SPARE);
  const selected = chosen === null ? null : events[chosen - offset];
  const option = (number) => `${id}-${number}`;
  return html`<div class="events">
    <div class="event-list" ref=${box} tabindex="0" role="listbox" aria-label=${t('events')} onScroll=${scrolled} onKeyDown=${pressed}
        aria-activedescendant=${selected && shown.includes(selected) ? option(chosen) : undefined}>
      <div role="presentation" class="event-space" style=${{ height: `${events.length * ROW}px` }}>
        ${shown.map((event, index) => {
          const at = first + index;
          return html`<div key=${event.number} id=${option(event.number)} role="option" aria-setsize=${offset + events.length - 1}
              aria-posinset=${event.number} aria-selected=${event.number === chosen ? 'true' : 'false'}
              class=${`event ${event.kind}`} style=${{ transform: `translateY(${at * ROW}px)` }} onClick=${() => choose(event.number)}>
            <span class="event-at">${inMs(event.at)}</span>
            <span class="event-gap">${at > 0 ? `+${inMs(event.at - events[at - 1].at)}` : ''}</span>
            <span class="event-name">${nameOf(t, event)}</span>
            <span class="event-data">${plain(event.data.slice(0, SHOWN_OF_ROW))}</span>
          </div>`;
        })}
      </div>
    </div>
    <p class="muted small" role="status">${told(t, run)}</p>
    ${selected && html`<${Block} text=${selected.raw.slice(0, SHOWN_OF_EVENT)} label=${t('eventOf', { number: chosen })} />`}
  </div>`;
}

/** Always in milliseconds, so that the lines can be compared. */
function inMs(time) {
  return `${whole(Math.round(time))} ms`;
}

function told(t, run) {
  if (!run) return '';
  const all = run.dropped + run.events.length;
  const text = t('eventCount', { count: all });
  return run.dropped ? `${text} ${t('dropped', { count: run.dropped })}` : text;
}

function nameOf(t, event) {
  if (event.kind === 'comment') return t('comment');
  if (event.kind === 'torn') return t('torn');
  return plain(event.name ?? 'data');
}

function reveal(box, place) {
  if (place < box.scrollTop) box.scrollTop = place;
  else if (place + ROW > box.scrollTop + box.clientHeight) box.scrollTop = place + ROW - box.clientHeight;
}
