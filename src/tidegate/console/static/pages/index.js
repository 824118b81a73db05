/**
 * The pages of the console, in the order of the navigation.
 *
 * `path` begins behind /console and may hold `:names`; `title` is its name in the navigation and, unless the page says
 * otherwise, in the window's title. `section` groups it in the navigation; a page without one is not listed there, and
 * `under` is then the path that is marked instead. `jump` is the letter that leads to it after `g`. `load` fetches
 * the module, whose default export is the component; it gets the path's values as `params`.
 */
export const pages = [
  {
    path: '/',
    title: { en: 'Overview', zh: '总览' },
    section: 'observe',
    icon: 'overview',
    jump: 'o',
    load: () => import('./overview.js'),
  },
  {
    path: '/requests',
    title: { en: 'Requests', zh: '请求' },
    section: 'observe',
    icon: 'requests',
    jump: 'r',
    load: () => import('./requests.js'),
  },
  {
    path: '/requests/:id',
    title: { en: 'Request', zh: '请求详情' },
    under: '/requests',
    load: () => import('./request.js'),
  },
];

/** The groups of the navigation. */
export const sections = [
  { name: 'observe', title: { en: 'Observe', zh: '观测' } },
  { name: 'manage', title: { en: 'Manage', zh: '管理' } },
  { name: 'try', title: { en: 'Try', zh: '调试' } },
];
