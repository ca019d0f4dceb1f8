import { spawn } from 'node:child_process'
import path from 'node:path'

/** Runs a script of this folder: JSON in, JSON out. Throws with what it wrote on its error output. */
export async function python(
  interpreter: string,
  script: string,
  parameters: readonly string[],
  input: unknown,
): Promise<unknown> {
  const child = spawn(interpreter, [path.join(import.meta.dirname, script), ...parameters], {
    env: { ...process.env, HF_HUB_OFFLINE: '1', TRANSFORMERS_OFFLINE: '1' },
  })
  const collected = [child.stdout, child.stderr].map((stream) => stream.setEncoding('utf8').toArray())
  child.stdin.end(JSON.stringify(input))
  const status = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [output = '', errors = ''] = (await Promise.all(collected)).map((parts) => parts.join(''))
  if ((await status) !== 0) throw new Error(`${script} failed:\n${errors.slice(-3000)}`)
  return JSON.parse(output)
}
