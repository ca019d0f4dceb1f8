import { spawn } from 'node:child_process'
import path from 'node:path'
import { createInterface } from 'node:readline'

/** Folder that the paths of scripts start from. */
const peers = path.resolve(import.meta.dirname, '..')

/** Runs a script of peers/ with JSON as input, and returns its JSON output. Throws with the script's error output. */
export async function python(
  interpreter: string,
  script: string,
  parameters: readonly string[],
  input: unknown,
): Promise<unknown> {
  const child = spawn(interpreter, [path.resolve(peers, script), ...parameters], {
    env: { ...process.env, HF_HUB_OFFLINE: '1', TRANSFORMERS_OFFLINE: '1' },
  })
  const collected = [child.stdout, child.stderr].map((stream) => stream.setEncoding('utf8').toArray())
  child.stdin.end(JSON.stringify(input))
  const status = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [output = '', errors = ''] = (await Promise.all(collected)).map((parts) => parts.join(''))
  if ((await status) !== 0) throw new Error(`${script} failed:\n${errors.slice(-3000)}`)
  return JSON.parse(output)
}

/** A script that answers lines of JSON with lines of JSON until it is ended. */
export interface ScriptSession {
  /** Returns the next line that the script writes. Throws with its error output if it has ended. */
  reply(): Promise<unknown>
  ask(question: unknown): Promise<unknown>
  end(): void
}

/** Starts a script of peers/ that answers line by line. */
export function startSession(interpreter: string, script: string): ScriptSession {
  const child = spawn(interpreter, [path.resolve(peers, script)], {
    env: { ...process.env, HF_HUB_OFFLINE: '1', TRANSFORMERS_OFFLINE: '1', PYTHONDONTWRITEBYTECODE: '1' },
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const errors = child.stderr.setEncoding('utf8').toArray()
  const reply = async (): Promise<unknown> => {
    const { done, value } = await lines.next()
    if (done === true) throw new Error(`${script} ended:\n${(await errors).join('').slice(-3000)}`)
    return JSON.parse(value)
  }
  return {
    reply,
    ask: (question) => {
      child.stdin.write(`${JSON.stringify(question)}\n`)
      return reply()
    },
    end: () => child.stdin.end(),
  }
}
