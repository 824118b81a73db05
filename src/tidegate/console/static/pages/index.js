/**
 * The pages of the console, in the order of the navigation.
 *
 * `path` begins behind /console and may hold `:names`; `title` is its name in the navigation and, unless the page says
 * otherwise, in the window's title. `section` groups it in the navigation; a page without one is not listed there, and
 * `under` is then the path that is marked instead. `jump` is the letter that leads to it after `g`. `load` fetches
 * the module, whose default export is the component; it gets the path's values as `params`.
 */
export const pages = [
];

/** The groups of the navigation. */
export const sections = [
  { name: 'observe', title: { en: 'Observe', zh: '观测' } },
  { name: 'manage', title: { en: 'Manage', zh: '管理' } },
  { name: 'try', title: { en: 'Try', zh: '调试' } },
];
