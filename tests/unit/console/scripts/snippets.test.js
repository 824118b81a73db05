import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test from 'node:test';

const { needs, program, programs } = await import('../../../../src/tidegate/console/static/pages/playground/snippets.js');
const { dialects } = await import('../../../../src/tidegate/console/static/pages/playground/dialects.js');
const ORIGIN = 'https://gateway.test:8443';

test('every program goes to the gateway, with the key from the environment', () => {
  for (const protocol of Object.keys(dialects)) {
    for (const kind of programs) {
      const text = program(kind, protocol, ORIGIN, { model: 'm', stream: true });
      const base = protocol === 'messages' ? ORIGIN : `${ORIGIN}/v1`;
      assert.ok(text.includes(kind === 'curl' ? ORIGIN + dialects[protocol].path : JSON.stringify(base)), `${kind} ${protocol}: ${text}`);
      assert.match(text, /TIDEGATE_KEY/);
      assert.doesNotMatch(text, /undefined|\[object/);
      assert.ok(text.endsWith('\n'));
    }
    assert.equal(needs('curl', protocol), null);
    assert.match(needs('python', protocol), /^pip install \w+$/);
    assert.match(needs('node', protocol), /^npm install [@\w/-]+$/);
  }
});

test('a body comes out of a shell as it went in', () => {
  const body = { model: "it's", text: '$HOME `id` $(id) "\\n" \n 你好 \u2028', list: [true, null, 1.5] };
  const text = program('curl', 'chat', ORIGIN, body).replace(/^curl/, 'printf "%s\\0"');
  const words = execFileSync('bash', ['-c', text], { env: { TIDEGATE_KEY: 'sk-1' } }).toString().split('\0');
  assert.ok(words.includes('authorization: Bearer sk-1'));
  assert.deepEqual(JSON.parse(words[words.indexOf('-d') + 1]), body);
});

test('Python has its own words for true, false and nothing', () => {
  const text = program('python', 'responses', ORIGIN, { model: 'm', input: [{ a: true, b: false, c: null, d: {}, e: [] }], odd_member: 1 });
  for (const line of ['"a": True,', '"b": False,', '"c": None,', '"d": {},', '"e": [],', '    extra_body={', '"odd_member": 1,']) assert.ok(text.includes(line), line);
});

test('a member named __proto__ stays a member', () => {
  const body = JSON.parse('{"model": "m", "tools": [{"__proto__": {"a": 1}}]}');
  const text = program('node', 'chat', ORIGIN, body);
  const literal = /create\(([\s\S]*?)\);\n/.exec(text)[1];
  const made = new Function(`return ${literal}`)();
  assert.equal(JSON.stringify(made), JSON.stringify(body));
});
