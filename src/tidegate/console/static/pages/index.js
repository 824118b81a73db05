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
  {
    path: '/channels',
    section: 'manage',
    icon: 'channels',
    jump: 'c',
    title: { en: 'Channels', zh: '渠道' },
    load: () => import('./channels.js'),
  },
  {
    path: '/models',
    section: 'manage',
    icon: 'models',
    jump: 'm',
    title: { en: 'Models and prices', zh: '模型与价格' },
    load: () => import('./models.js'),
  },
  {
    path: '/keys',
    section: 'manage',
    icon: 'keys',
    jump: 'k',
    title: { en: 'Keys', zh: '密钥' },
    load: () => import('./keys.js'),
  },
  {
    path: '/accounts',
    section: 'manage',
    icon: 'accounts',
    jump: 'a',
    title: { en: 'Accounts', zh: '账户' },
    load: () => import('./accounts.js'),
  },
  {
    path: '/audit',
    section: 'manage',
    icon: 'audit',
    jump: 'u',
    title: { en: 'Audit', zh: '审计' },
    load: () => import('./audit.js'),
  },
  {
    path: '/playground',
    section: 'try',
    icon: 'playground',
    jump: 'p',
    title: { en: 'Playground', zh: '试验场' },
    load: () => import('./playground.js'),
  },
  ...entries('/channels', () => import('./channel.js'), { en: 'Channel', zh: '渠道' }),
  ...entries('/models', () => import('./model.js'), { en: 'Model', zh: '模型' }),
  ...entries('/keys', () => import('./key.js'), { en: 'Key', zh: '密钥' }),
  ...entries('/accounts', () => import('./account.js'), { en: 'Account', zh: '账户' }),
];

/** The pages of single things below a list: one that adds, one that shows, one that edits. */
function entries(under, load, title) {
  const page = (path, name) => ({ path: under + path, under, title, load: async () => ({ default: (await load())[name] }) });
  return [page('/new', 'Adding'), page('/:name', 'Showing'), page('/:name/edit', 'Editing')];
}

/** The groups of the navigation. */
export const sections = [
  { name: 'observe', title: { en: 'Observe', zh: '观测' } },
  { name: 'manage', title: { en: 'Manage', zh: '管理' } },
  { name: 'try', title: { en: 'Try', zh: '调试' } },
];
