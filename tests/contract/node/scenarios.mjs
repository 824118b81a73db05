// Runs named scenarios one after the other, each bounded in time, and prints what became of them as JSON.

const BOUND_MS = 15_000;

export async function run(scenarios) {
  const results = {};
  for (const [name, scenario] of Object.entries(scenarios)) {
    results[name] = await outcome(scenario);
  }
  process.stdout.write(JSON.stringify(results), () => process.exit(0));
}

async function outcome(scenario) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("took too long")), BOUND_MS);
  });
  try {
    await Promise.race([scenario(), late]);
    return "ok";
  } catch (error) {
    return String(error?.stack ?? error);
  } finally {
    clearTimeout(timer);
  }
}

export async function caught(action) {
  try {
    await action();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

export async function collect(iterable) {
  const all = [];
  for await (const one of await iterable) all.push(one);
  return all;
}

export const ODD = ["ids", "crlf", "split=1", "no_space", "bom", "comments", "retry", "done", "no_final_blank"];
