/** The four classes of tokens: name, member of a row, colour of charts. */

export const TOKENS = [
  ['input', 'input_tokens', '--c1'],
  ['cache_read', 'cache_read_tokens', '--c6'],
  ['cache_write', 'cache_write_tokens', '--c4'],
  ['output', 'output_tokens', '--c2'],
];
