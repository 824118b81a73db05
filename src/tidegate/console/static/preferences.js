/** The reader's choice of language and theme. */

import { Segmented } from './components/field.js';
import { chooseLanguage, language, languages, useWords } from './i18n.js';
import { strings } from './shell.strings.js';
import { useStore } from './store.js';
import { chooseTheme, theme } from './theme.js';
import { html } from './view.js';

/** English or 简体中文. */
export function LanguageChoice() {
  const t = useWords(strings);
  const options = Object.entries(languages).map(([tag, { name, lang }]) => [tag, html`<span lang=${lang}>${name}</span>`]);
  return html`<${Segmented} label=${t('language')} value=${language.get()} options=${options} onChange=${chooseLanguage} />`;
}

/** System, light or dark. */
export function ThemeChoice() {
  const t = useWords(strings);
  const chosen = useStore(theme);
  const options = ['system', 'light', 'dark'].map((one) => [one, t(one)]);
  return html`<${Segmented} label=${t('theme')} value=${chosen} options=${options} onChange=${chooseTheme} />`;
}
