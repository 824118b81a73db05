/** The frame around every page: navigation, banner, news, and the page itself. */

import { connection, forgetTrouble, signOut } from './api.js';
import { problemText } from './components/field.js';
import { Icon, Mark } from './components/icon.js';
import { Empty, Loading } from './components/states.js';
import { Name } from './components/text.js';
import { toast, Toasts } from './components/toast.js';
import { language, useWords } from './i18n.js';
import { pages, sections } from './pages/index.js';
import { go, leaveFreely, link, match, place } from './router.js';
import { LanguageChoice, ThemeChoice } from './preferences.js';
import { Shortcuts } from './shortcuts.js';
import { strings } from './shell.strings.js';
import { useStore } from './store.js';
import { html, useEffect, useErrorBoundary, useRef, useState } from './view.js';

/** The page that is looked at goes first. */
const AFTER_MS = 1500;
const AGAIN_MS = 3000;

/** The whole window of a signed-in operator. */
export function Shell({ operator, hidden }) {
  const t = useWords(strings);
  const { path } = useStore(place);
  const [open, setOpen] = useState(false);
  const [help, setHelp] = useState(false);
  const main = useRef(null);
  const found = find(path);

  useEffect(() => setOpen(false), [path]);
  usePageChange(path, main, hidden);
  useEscape(open, () => setOpen(false));

  const leave = async () => {
    try {
      await signOut();
      leaveFreely();
      go(link('/'), { replace: true });
    } catch (error) {
      toast(problemText(error), 'bad');
    }
  };

  return html`<div class="shell" hidden=${hidden} data-menu=${open ? 'open' : 'closed'}>
    <a class="skip" href="#content" onClick=${(event) => skip(event, main)}>${t('skip')}</a>
    <header class="topbar">
      <a class="brand" href=${link('/')}><${Mark} /><span>Tidegate</span></a>
      <button type="button" class="button quiet" aria-expanded=${open ? 'true' : 'false'} aria-controls="side"
          onClick=${() => setOpen(!open)}>
        <${Icon} name=${open ? 'close' : 'menu'} />${open ? t('closeMenu') : t('menu')}
      </button>
    </header>
    <aside class="side" id="side" aria-label=${t('menu')}>
      <a class="brand" href=${link('/')}><${Mark} /><span>Tidegate</span></a>
      <${Navigation} current=${found?.page} />
      <div class="side-foot">
        <p class="operator"><${Icon} name="accounts" /><span>${t.parts('signedInAs', { name: html`<${Name}>${operator}<//>` })}</span></p>
        <${LanguageChoice} />
        <${ThemeChoice} />
        <div class="side-buttons">
          <button type="button" class="button quiet" onClick=${leave}><${Icon} name="out" />${t('signOut')}</button>
          <button type="button" class="button quiet" onClick=${() => setHelp(true)} aria-label=${t('shortcuts')} title=${t('shortcuts')}><kbd>?</kbd></button>
        </div>
      </div>
    </aside>
    <div class="veil" onClick=${() => setOpen(false)}></div>
    <div class="stage">
      <${Banner} />
      <main class="main" id="content" tabindex="-1" ref=${main} inert=${open}>
        ${found ? html`<${Page} key=${found.page.path} ...${found} />` : html`<${NoPage} />`}
      </main>
    </div>
    <${Toasts} />
    <${Shortcuts} active=${!hidden} shown=${help} onShow=${setHelp} />
  </div>`;
}

function find(path) {
  for (const page of pages) {
    const params = match(page.path, path);
    if (params) return { page, params };
  }
  return null;
}

function skip(event, main) {
  event.preventDefault();
  main.current.focus();
}

/** On another page the focus goes to its beginning, and the troubles of the last one are over. */
function usePageChange(path, main, hidden) {
  const before = useRef(path);
  useEffect(() => {
    if (before.current === path || hidden) return;
    before.current = path;
    forgetTrouble();
    main.current.focus({ preventScroll: true });
  }, [path, hidden]);
}

function useEscape(active, act) {
  useEffect(() => {
    if (!active) return undefined;
    const press = (event) => event.key === 'Escape' && act();
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [active]);
}

function Navigation({ current }) {
  const t = useWords(strings);
  const tag = language.get();
  const marked = current?.under ?? current?.path;
  const filled = sections.filter(({ name }) => pages.some((page) => page.section === name));
  return html`<nav class="nav" aria-label=${t('navigation')}>
    ${filled.map(
      ({ name, title }) => html`<div class="nav-section" key=${name}>
        <p class="nav-title" id=${`nav-${name}`}>${title[tag]}</p>
        <ul aria-labelledby=${`nav-${name}`}>
          ${pages
            .filter((page) => page.section === name)
            .map(
              (page) => html`<li key=${page.path}>
                <a href=${link(page.path)} aria-current=${page.path === marked ? 'page' : undefined}>
                  <${Icon} name=${page.icon} />${page.title[tag]}
                </a>
              </li>`,
            )}
        </ul>
      </div>`,
    )}
  </nav>`;
}

function Banner() {
  const t = useWords(strings);
  const state = useStore(connection);
  return html`<div class="banner-place" role="status">
    ${state !== 'ok' && html`<p class="banner"><${Icon} name="warning" />${t(state === 'network' ? 'bannerNetwork' : 'bannerDatabase')}</p>`}
  </div>`;
}

/** One page: its module is fetched when it is first opened; a mistake in it does not take the shell with it. */
function Page({ page, params }) {
  const t = useWords(strings);
  const [component, setComponent] = useState(null);
  const [failed, setFailed] = useState(null);
  const [broken] = useErrorBoundary((error) => console.error(error));
  useEffect(() => {
    let here = true;
    page.load().then(
      (module) => {
        if (here) setComponent(() => module.default);
        setTimeout(fetchAll, AFTER_MS);
      },
      (error) => here && setFailed(error),
    );
    return () => {
      here = false;
    };
  }, [page]);
  useEffect(() => {
    document.title = `${page.title[language.get()]} · Tidegate`;
  }, [page]);
  useReloadOnceReachable(failed);
  if (broken || failed) {
    return html`<${Empty} title=${t(broken ? 'broken' : 'notLoaded')} icon="warning" whole>
      <p>${t(broken ? 'brokenText' : 'notLoadedText')}</p>
      <button type="button" class="button" onClick=${() => location.reload()}>${t('reload')}</button>
    <//>`;
  }
  return component ? html`<${component} params=${params} />` : html`<${Loading} />`;
}

/** A browser does not fetch a failed module again; so the whole is loaded anew as soon as the gateway answers. */
function useReloadOnceReachable(failed) {
  useEffect(() => {
    if (!failed) return undefined;
    const look = async () => {
      const answer = await fetch(link('/icon.svg'), { method: 'HEAD', cache: 'no-store' }).catch(() => null);
      if (answer?.ok) location.reload();
    };
    const timer = setInterval(look, AGAIN_MS);
    return () => clearInterval(timer);
  }, [failed]);
}

/** Fetch the other pages too, so that they open also while the gateway is away. */
function fetchAll() {
  for (const page of pages) page.load().catch(() => null); // told when it is opened
}

function NoPage() {
  const t = useWords(strings);
  return html`<${Empty} title=${t('noPage')} icon="search" whole>
    <p>${t('noPageText')}</p>
    <a class="button" href=${link('/')}>${t('home')}</a>
  <//>`;
}
