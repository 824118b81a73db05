/** The words of the state of channels. */

export const strings = {
  en: {
    ready: 'Ready',
    cooling: 'Cooling',
    probing: 'Probing',
    may_probe: 'May be probed',
    paused: 'Paused',
    draining: 'Draining',
    drainingOpen: { one: 'Draining, {count} open', other: 'Draining, {count} open' },
    left: { one: '{count} s to go', other: '{count} s to go' },
    moreModels: { one: 'and {count} more model', other: 'and {count} more models' },
  },
  zh: {
    ready: '正常',
    cooling: '冷却中',
    probing: '探测中',
    may_probe: '可探测',
    paused: '已暂停',
    draining: '排空中',
    drainingOpen: '排空中，{count} 个进行中',
    left: '还剩 {count} 秒',
    moreModels: '另有 {count} 个模型',
  },
};
