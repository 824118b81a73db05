/** The words of limits and budgets. */

export const strings = {
  en: {
    none: 'None',
    rpm: '{value} req/min',
    rpmHint: '{value} requests per minute',
    tpm: '{value} tok/min',
    tpmHint: '{value} tokens per minute',
    together: '{value} at once',
    togetherHint: '{value} requests at the same time',
    of: '{amount} of {budget}',
  },
  zh: {
    none: '无',
    rpm: '{value} 请求/分',
    rpmHint: '每分钟 {value} 个请求',
    tpm: '{value} token/分',
    tpmHint: '每分钟 {value} 个 token',
    together: '{value} 并发',
    togetherHint: '同时 {value} 个请求',
    of: '{amount} / {budget}',
  },
};
