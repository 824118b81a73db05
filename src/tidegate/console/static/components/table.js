/** Tables: sortable, rows that lead somewhere, cards on narrow screens. */

import { useWords } from '../i18n.js';
import { go } from '../router.js';
import { html, useMemo } from '../view.js';
import { Icon } from './icon.js';
import { strings } from './strings.js';

/**
 * A table. `columns` are `{key, title, cell(row), numeric, sortable, hint, lead, wide}`.
 *
 * `lead` marks the column that heads a card on narrow screens. `sort` is `{by, down}`, `onSort(key)` changes it.
 * `href(row)` makes the whole row lead there on a click; put a link of the same address into a cell for the keyboard.
 * `rowClass(row)` and `rowKey(row)` are as they sound. `caption` names the table for screen readers. With `still`
 * what is drawn depends on the row alone: the same row is not drawn again as long as the columns are the same.
 */
export function Table({ caption, columns, rows, rowKey, sort, onSort, href, rowClass, cards = true, foot, still = false }) {
  const drawn = useMemo(() => new WeakMap(), [columns]);
  const follow = (event, row) => {
    if (event.target.closest('a, button, input, select, label') || String(getSelection())) return;
    go(href(row));
  };
  const line = (row) => {
    const element = html`<tr role="row" key=${rowKey(row)} class=${`${href ? 'leads' : ''} ${rowClass?.(row) ?? ''}`}
        onClick=${href ? (event) => follow(event, row) : undefined}>
      ${columns.map(
        (column) => html`<td role="cell" key=${column.key} data-column=${column.key} data-label=${column.title} class=${classes(column)}>
          ${column.cell(row)}
        </td>`,
      )}
    </tr>`;
    drawn.set(row, element);
    return element;
  };
  return html`<div class=${`table-box ${cards ? 'cards' : ''}`} tabindex="0" role="region" aria-label=${caption}>
    <table role="table" class="table">
      <caption class="heard">${caption}</caption>
      <thead role="rowgroup"><tr role="row">
        ${columns.map((column) => html`<${Head} key=${column.key} ...${{ column, sort, onSort }} />`)}
      </tr></thead>
      <tbody role="rowgroup">
        ${rows.map((row) => (still && drawn.get(row)) || line(row))}
      </tbody>
      ${foot && html`<tfoot role="rowgroup">${foot}</tfoot>`}
    </table>
  </div>`;
}

function Head({ column, sort, onSort }) {
  const t = useWords(strings);
  const sorted = sort?.by === column.key ? (sort.down ? 'descending' : 'ascending') : undefined;
  const label = t('sortBy', { column: column.title });
  return html`<th role="columnheader" scope="col" class=${classes(column)} title=${column.hint}
      aria-sort=${column.sortable ? (sorted ?? 'none') : undefined}>
    ${
      column.sortable
        ? html`<button type="button" class="sort" title=${label} onClick=${() => onSort(column.key)}>
            ${column.title}${sorted && html`<${Icon} name=${sort.down ? 'down' : 'up'} size=${12} />`}
          </button>`
        : column.title
    }
  </th>`;
}

function classes(column) {
  return [column.numeric && 'numeric', column.lead && 'lead', column.wide && 'wide'].filter(Boolean).join(' ');
}

/** The sort that follows a click on a column: down first, then up. */
export function turned(sort, by) {
  return { by, down: sort.by === by ? !sort.down : true };
}

/** Rows sorted by `value(row)`; rows without one stand last either way. */
export function sorted(rows, value, down) {
  const known = rows.filter((row) => value(row) !== null && value(row) !== undefined);
  const unknown = rows.filter((row) => value(row) === null || value(row) === undefined);
  const order = (a, b) => {
    const [left, right] = [value(a), value(b)];
    return typeof left === 'string' ? left.localeCompare(right) : left - right;
  };
  known.sort((a, b) => (down ? order(b, a) : order(a, b)));
  return [...known, ...unknown];
}
