/** The tool `python`: runs code that the model writes, in one guarded interpreter for each run of the agent. */

import { PYTHON_SPEC } from '#lib/tools/python-spec.ts'
import { countText } from '#lib/util/text/count-with-noun.ts'
import { type AgentTool, type ToolCallContext, ToolFailure } from '../tools/tool.ts'
import { type Interpreter, InterpreterError } from './interpreter.ts'
import type { InterpreterLease, InterpreterPool } from './pool.ts'
import { resultText } from './result.ts'

/** The largest number of characters of code. */
const LONGEST_CODE = 200_000

/** Creates the tool for one run. The first call takes an interpreter from the pool; close() ends it. */
export function pythonTool(pool: InterpreterPool): AgentTool {
  const closing = new AbortController()
  let seat: Promise<InterpreterLease> | undefined
  let before: Promise<unknown> = Promise.resolve()

  const free = async (turn: Promise<unknown>): Promise<Interpreter> => {
    await turn
    closing.signal.throwIfAborted()
    seat ??= pool.sit(closing.signal)
    return (await seat).interpreter()
  }
  return {
    spec: PYTHON_SPEC,
    run({ code }, call) {
      const text = code as string
      if (text.length > LONGEST_CODE)
        throw new Error(`the code is too long (more than ${countText(LONGEST_CODE)} characters)`)
      const result = call.untimed(free(before)).then((interpreter) => ran(text, interpreter, call))
      // Calls run one after another, because they share their variables.
      before = result.catch(() => {})
      return result
    },
    async close() {
      closing.abort(new Error('the run has ended'))
      const taken = await seat?.catch(() => undefined)
      taken?.leave()
    },
  }
}

/**
 * Runs code and returns the text for the model. Throws ToolFailure with the traceback, or if the interpreter ended. Aborting
 * the call ends the interpreter.
 */
async function ran(
  code: string,
  interpreter: Interpreter,
  { signal, number, hold }: Pick<ToolCallContext, 'signal' | 'number' | 'hold'>,
): Promise<string> {
  const end = () => interpreter.end()
  signal.addEventListener('abort', end, { once: true })
  // After a stop, a timeout or a further turn, earlier definitions are gone, which the result reports.
  const anew = number > 1 && interpreter.calls() === 0 ? ANEW : ''
  const soFar = () => lines(anew, resultText({ printed: interpreter.printed() }))
  try {
    signal.throwIfAborted()
    const running = interpreter.run(code)
    hold(soFar)
    const done = await running
    const text = lines(anew, resultText(done))
    if (done.error) throw new ToolFailure(text)
    return text
  } catch (error) {
    if (error instanceof InterpreterError) throw new ToolFailure(lines(soFar(), ENDED))
    throw error
  } finally {
    signal.removeEventListener('abort', end)
  }
}

const lines = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n')

const ANEW = '[new interpreter: earlier definitions are lost]'
const ENDED = 'Error: the Python process ended while it ran this code: it used too much memory, or crashed.'
