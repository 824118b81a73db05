/** The settings of channels, models, accounts and keys, in the order in which a form asks for them. */

import { rates } from './kinds.js';

const PROTOCOLS = ['chat', 'responses', 'messages'];
const TOOLS = ['drop', 'reject'];
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

const price = {
  title: 'price',
  hint: 'priceHint',
  fields: [
    ...rates.map((rate) => ({ name: `price.${rate}`, kind: 'decimal', narrow: true })),
    { name: 'price_tiers', kind: 'tiers' },
    { name: 'service_tiers', kind: 'factors' },
  ],
};

const capabilities = {
  title: 'capabilities',
  hint: 'capabilitiesHint',
  folded: true,
  fields: [
    { name: 'capabilities.max_tokens_field', kind: 'choice', options: ['max_completion_tokens', 'max_tokens'], verbatim: true },
    { name: 'capabilities.thinking', kind: 'choice', options: ['adaptive', 'budget', 'none'] },
    { name: 'capabilities.replay_reasoning', kind: 'choice', options: ['never', 'tool_turns', 'all'] },
    { name: 'capabilities.unsupported_tools', kind: 'choice', options: TOOLS },
    { name: 'capabilities.tool_name_max', kind: 'number', narrow: true },
    { name: 'capabilities.efforts', kind: 'several', options: EFFORTS },
    ...[
      ...['sampling', 'prefill', 'mid_system', 'developer_role', 'instructions_required'],
      ...['structured_output', 'custom_tools', 'web_search', 'reasoning_summary'],
    ].map((name) => ({ name: `capabilities.${name}`, kind: 'maybe' })),
  ],
};

const limits = {
  title: 'limits',
  hint: 'limitsHint',
  fields: [
    { name: 'requests_per_minute', kind: 'number', narrow: true },
    { name: 'tokens_per_minute', kind: 'number', narrow: true },
    { name: 'max_concurrency', kind: 'number', narrow: true },
    { name: 'budget_per_day', kind: 'decimal', narrow: true },
    { name: 'budget_per_month', kind: 'decimal', narrow: true },
  ],
};

/** The groups of settings of each kind of thing. */
export const forms = {
  channels: {
    groups: [
      {
        title: 'upstream',
        fields: [
          { name: 'protocol', kind: 'choice', options: PROTOCOLS, required: true, initial: 'chat' },
          { name: 'base_url', kind: 'text', required: true, code: true },
          { name: 'api_key', kind: 'secret' },
          { name: 'models', kind: 'served', words: 'channel_models', required: true },
        ],
      },
      {
        title: 'routing',
        fields: [
          { name: 'priority', kind: 'number', narrow: true },
          { name: 'weight', kind: 'number', narrow: true },
          { name: 'group', kind: 'text', narrow: true },
        ],
      },
      {
        title: 'connection',
        folded: true,
        fields: [
          { name: 'connect_timeout', kind: 'duration', narrow: true },
          { name: 'upstream_stream', kind: 'choice', options: ['auto', 'never'], narrow: true },
          { name: 'unsupported_tools', kind: 'choice', options: TOOLS, narrow: true },
          { name: 'headers', kind: 'headers' },
          { name: 'forward_headers', kind: 'names', code: true },
          { name: 'ca_file', kind: 'text', code: true, fileOnly: true },
        ],
      },
      { ...price, title: 'channelPrice', hint: 'channelPriceHint', folded: true },
      capabilities,
    ],
  },
  models: {
    groups: [
      price,
      {
        title: 'times',
        fields: [
          { name: 'max_output_tokens', kind: 'number', narrow: true },
          { name: 'first_event_timeout', kind: 'duration', narrow: true },
          { name: 'idle_timeout', kind: 'duration', narrow: true },
        ],
      },
      capabilities,
    ],
  },
  accounts: {
    groups: [{ title: 'paying', fields: [{ name: 'prepaid', kind: 'flag' }] }, limits],
  },
  keys: {
    groups: [
      {
        title: 'access',
        fields: [
          { name: 'account', kind: 'text', narrow: true, suggest: 'accounts', initial: 'default' },
          { name: 'models', kind: 'namesOrAll', words: 'key_models', suggest: 'models' },
        ],
      },
      limits,
      {
        title: 'conversion',
        folded: true,
        fields: [
          { name: 'conversion', kind: 'choice', options: ['lenient', 'strict'], narrow: true },
          { name: 'unsupported_tools', kind: 'choice', options: TOOLS, narrow: true },
        ],
      },
      { title: 'content', folded: true, fields: [{ name: 'capture', kind: 'number', narrow: true }] },
    ],
  },
};

/** What only something new has. */
const NAMED = { name: 'name', kind: 'text', required: true, narrow: true };
const OPENING = { name: 'balance', kind: 'decimal', narrow: true };

/** The groups of a form, with the name and an opening balance where something new is made. */
export function groupsOf(kind, { fresh }) {
  const groups = forms[kind].groups.map((group) => ({ ...group, fields: group.fields.filter((field) => !field.fileOnly) }));
  if (!fresh) return groups;
  if (kind === 'accounts') return [{ title: 'paying', fields: [NAMED, OPENING] }, ...groups.slice(1)];
  const [first, ...rest] = groups;
  if (kind === 'models') return [{ title: 'naming', fields: [NAMED] }, ...groups];
  return [{ ...first, fields: [NAMED, ...first.fields] }, ...rest];
}

/** The groups as they are shown: also what only the config file may set. */
export function shownGroups(kind) {
  return forms[kind].groups;
}

/** All fields of some groups. */
export function fieldsOf(groups) {
  return groups.flatMap((group) => group.fields);
}
