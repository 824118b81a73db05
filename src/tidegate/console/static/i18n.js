/** English and 简体中文: the words of each part, chosen at once and remembered. */

import { remember, remembered, store, useStore } from './store.js';

const NAME = 'tidegate.language';

/** Languages by tag, each with its own name and the locale that numbers and times follow. */
export const languages = {
  en: { name: 'English', locale: 'en', lang: 'en' },
  zh: { name: '简体中文', locale: 'zh-CN', lang: 'zh-CN' },
};

/** The language's tag: `en` or `zh`. */
export const language = store(firstLanguage());

/** Choose a language by its tag; remembered for the next visit. */
export function chooseLanguage(tag) {
  document.documentElement.lang = languages[tag].lang;
  remember(NAME, tag);
  language.set(tag);
}

/** The locale for Intl. English follows the reader's own region, e.g. en-GB. */
export function locale() {
  const tag = language.get();
  const own = (navigator.languages ?? []).find((one) => one.toLowerCase().startsWith(tag));
  return own ?? languages[tag].locale;
}

/**
 * The words of a part, as a function of key and values: `t('rows', {count: 3})`.
 *
 * `strings` is `{en: {key: text}, zh: {key: text}}`. A text has its values in braces, and may be
 * `{one, other}`, chosen by `values.count`. `t.parts` gives an array, so that values can be elements.
 */
export function useWords(strings) {
  useStore(language);
  return words(strings);
}

/** The same outside of components; good for the moment only, since the language may change. */
export function words(strings) {
  const tag = language.get();
  const text = (key, values) => chosen(strings, tag, key, values);
  const t = (key, values = {}) =>
    text(key, values).replace(/\{(\w+)\}/g, (_, name) => isolated(shown(values[name])));
  t.parts = (key, values = {}) =>
    text(key, values)
      .split(/\{(\w+)\}/)
      .map((part, index) => (index % 2 ? values[part] : part));
  t.has = (key) => Object.hasOwn(strings.en, key);
  return t;
}

function chosen(strings, tag, key, values) {
  const text = strings[tag][key];
  if (!Object.hasOwn(strings[tag], key)) throw new Error(`no words for ${key}`);
  if (typeof text === 'string') return text;
  return text[new Intl.PluralRules(tag).select(values?.count ?? 0)] ?? text.other;
}

function shown(value) {
  return typeof value === 'number' ? new Intl.NumberFormat(locale()).format(value) : String(value ?? '');
}

/** A name from outside inside a sentence must not turn the sentence's direction around. */
function isolated(value) {
  return /^[\x20-\x7e]*$/.test(value) ? value : `\u2068${value}\u2069`;
}

function firstLanguage() {
  const wanted = remembered(NAME, navigator.language || 'en').toLowerCase();
  return wanted.startsWith('zh') ? 'zh' : 'en';
}
