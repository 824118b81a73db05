/** A request of the playground as a program: curl, Python and Node, with the official SDKs. */

import { dialects } from './dialects.js';

/** The environment variable that programs take the key from. */
export const KEY_VARIABLE = 'TIDEGATE_KEY';

/** The kinds of programs. */
export const programs = ['curl', 'python', 'node'];

/** The program of a kind that sends `body` to the gateway at `origin`. */
export function program(kind, protocol, origin, body) {
  const write = { curl, python, node }[kind];
  return write(protocol, origin, body);
}

/** What has to be installed for it, as a command; null where nothing has. */
export function needs(kind, protocol) {
  if (kind === 'python') return `pip install ${PYTHON[protocol].module}`;
  return kind === 'node' ? `npm install ${NODE[protocol].module}` : null;
}

function curl(protocol, origin, body) {
  const key = `$${KEY_VARIABLE}`;
  const headers =
    protocol === 'messages'
      ? [`x-api-key: ${key}`, 'anthropic-version: 2023-06-01']
      : [`authorization: Bearer ${key}`];
  const lines = [
    `curl -N ${origin}${dialects[protocol].path}`,
    ...[...headers, 'content-type: application/json'].map((header) => `-H "${header}"`),
    `-d ${quoted(JSON.stringify(body, null, 2))}`,
  ];
  return `${lines.join(' \\\n  ')}\n`;
}

/** Text as one word of a shell. */
function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

// What all versions of the Python SDKs take by name; anything else goes along in `extra_body`.
const NAMED = {
  chat: [
    ...['model', 'messages', 'stream', 'stream_options', 'max_completion_tokens', 'max_tokens', 'temperature'],
    ...['top_p', 'tools', 'tool_choice', 'stop', 'seed', 'n', 'response_format', 'reasoning_effort', 'user'],
  ],
  responses: [
    ...['model', 'input', 'instructions', 'stream', 'max_output_tokens', 'temperature', 'top_p', 'tools'],
    ...['tool_choice', 'store', 'reasoning', 'text', 'previous_response_id', 'include', 'metadata'],
  ],
  messages: [
    ...['model', 'messages', 'system', 'stream', 'max_tokens', 'tools', 'tool_choice', 'stop_sequences'],
    ...['thinking', 'metadata'],
  ],
};

const PYTHON = {
  chat: {
    module: 'openai',
    client: 'OpenAI',
    call: 'client.chat.completions.create',
    each: [
      'for chunk in answer:',
      '    if chunk.choices:',
      '        print(chunk.choices[0].delta.content or "", end="", flush=True)',
    ],
    whole: 'print(answer.choices[0].message.content)',
  },
  responses: {
    module: 'openai',
    client: 'OpenAI',
    call: 'client.responses.create',
    each: [
      'for event in answer:',
      '    if event.type == "response.output_text.delta":',
      '        print(event.delta, end="", flush=True)',
    ],
    whole: 'print(answer.output_text)',
  },
  messages: {
    module: 'anthropic',
    client: 'Anthropic',
    call: 'client.messages.create',
    each: [
      'for event in answer:',
      '    if event.type == "content_block_delta" and event.delta.type == "text_delta":',
      '        print(event.delta.text, end="", flush=True)',
    ],
    whole: 'print("".join(block.text for block in answer.content if block.type == "text"))',
  },
};

function python(protocol, origin, body) {
  const { module, client, call, each, whole } = PYTHON[protocol];
  const named = Object.entries(body).filter(([name]) => NAMED[protocol].includes(name));
  const more = Object.fromEntries(Object.entries(body).filter(([name]) => !NAMED[protocol].includes(name)));
  const given = named.map(([name, value]) => `    ${name}=${pythonValue(value, 1)},`);
  if (Object.keys(more).length) given.push(`    extra_body=${pythonValue(more, 1)},`);
  return lines(
    'import os',
    '',
    `from ${module} import ${client}`,
    '',
    `client = ${client}(base_url=${JSON.stringify(baseUrl(protocol, origin))}, api_key=os.environ["${KEY_VARIABLE}"])`,
    `answer = ${call}(`,
    ...given,
    ')',
    ...(body.stream === true ? [...each, 'print()'] : [whole]),
  );
}

const NODE = {
  chat: {
    module: 'openai',
    client: 'OpenAI',
    call: 'client.chat.completions.create',
    each: '  process.stdout.write(event.choices[0]?.delta?.content ?? "");',
    whole: 'console.log(answer.choices[0].message.content);',
  },
  responses: {
    module: 'openai',
    client: 'OpenAI',
    call: 'client.responses.create',
    each: '  if (event.type === "response.output_text.delta") process.stdout.write(event.delta);',
    whole: 'console.log(answer.output_text);',
  },
  messages: {
    module: '@anthropic-ai/sdk',
    client: 'Anthropic',
    call: 'client.messages.create',
    each: '  if (event.type === "content_block_delta") process.stdout.write(event.delta.text ?? "");',
    whole: 'console.log(answer.content.map((block) => block.text ?? "").join(""));',
  },
};

function node(protocol, origin, body) {
  const { module, client, call, each, whole } = NODE[protocol];
  const base = JSON.stringify(baseUrl(protocol, origin));
  return lines(
    `import ${client} from "${module}";`,
    '',
    `const client = new ${client}({ baseURL: ${base}, apiKey: process.env.${KEY_VARIABLE} });`,
    `const answer = await ${call}(${scriptValue(body)});`,
    ...(body.stream === true ? ['for await (const event of answer) {', each, '}', 'console.log();'] : [whole]),
  );
}

/** What the SDK takes as its base URL: OpenAI's has the version in it. */
function baseUrl(protocol, origin) {
  return protocol === 'messages' ? origin : `${origin}/v1`;
}

function lines(...all) {
  return `${all.join('\n')}\n`;
}

/** JSON as JavaScript. A member of this one name would set the prototype. */
function scriptValue(value) {
  return JSON.stringify(value, null, 2).replace(/^(\s*)"__proto__":/gm, '$1["__proto__"]:');
}

/** JSON as Python; its texts are written as in JSON, which Python reads the same. */
function pythonValue(value, depth) {
  if (value === null) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = '    '.repeat(depth + 1);
  const close = '    '.repeat(depth);
  const listed = Array.isArray(value);
  const members = listed
    ? value.map((one) => pythonValue(one, depth + 1))
    : Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${pythonValue(one, depth + 1)}`);
  const [open, end] = listed ? '[]' : '{}';
  if (!members.length) return open + end;
  return `${open}\n${members.map((one) => `${inner}${one},\n`).join('')}${close}${end}`;
}
