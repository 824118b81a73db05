/** What every part of the console draws with: Preact, its hooks, and htm bound to it. */

import { h } from './vendor/preact.js';
import htm from './vendor/htm.js';

export { createContext, Fragment, render } from './vendor/preact.js';
export {
  useCallback,
  useContext,
  useEffect,
  useErrorBoundary,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from './vendor/hooks.js';

export const html = htm.bind(h);
