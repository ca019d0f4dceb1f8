/** Jinja templates as transformers sets jinja2 up: compile once, render often. */

import { DEFAULT_BUDGET } from './budget.ts'
import { compile, type Program } from './compile/compile.ts'
import { unitOffset } from './python/text/code-points.ts'
import { PyError, type Value } from './python/values.ts'
import { Render, type RenderSettings } from './render.ts'
import type { Rendering } from './rendering.ts'
import { parse } from './syntax/parser.ts'
import { survey } from './syntax/survey.ts'
import { LocatedError } from './syntax/syntax.ts'
import { Trace } from './trace.ts'

export interface Template {
  /** Throws LocatedError with the class, message and line that Python would give. */
  render(variables: ReadonlyMap<string, Value>, settings?: Partial<RenderSettings>): string
  /** As render, with the source map. The messages are the variable `messages`. */
  trace(variables: ReadonlyMap<string, Value>, settings?: Partial<RenderSettings>): Rendering
}

/** Throws LocatedError: TemplateSyntaxError and its kin. */
export function compileTemplate(text: string): Template {
  const statements = guarded(() => parse(text))
  const known = guarded(() => survey(statements))
  const compiled = (isTraced: boolean): Program => guarded(() => compile(statements, known, isTraced))
  const program = compiled(false)
  let tracing: Program | undefined
  const run = (
    start: Program,
    variables: ReadonlyMap<string, Value>,
    settings: Partial<RenderSettings>,
    trace: Trace | undefined,
  ): Render => {
    const render = new Render({ ...DEFAULTS, ...settings }, trace)
    guarded(
      () => start(render, variables),
      () => render.line,
    )
    return render
  }
  return {
    render: (variables, settings = {}) => run(program, variables, settings, undefined).text,
    trace(variables, settings = {}) {
      tracing ??= compiled(true)
      const trace = new Trace(variables.get('messages'))
      const { text: rendered, generation } = run(tracing, variables, settings, trace)
      return {
        text: rendered,
        pieces: trace.list,
        generation: spans(rendered, generation),
        hasGenerationTag: known.hasGenerationTag,
      }
    },
  }
}

const DEFAULTS: RenderSettings = {
  clock: () => new Date(),
  now: () => performance.now(),
  budget: DEFAULT_BUDGET,
}

/** Gives every error a line, and what ran out of stack the name that Python has for it. */
function guarded<T>(action: () => T, line: () => number = () => 1): T {
  try {
    return action()
  } catch (error) {
    if (error instanceof LocatedError) throw error
    if (error instanceof PyError) throw new LocatedError(error.className, error.message, line(), { cause: error })
    if (isStackOverflow(error))
      throw new LocatedError('RecursionError', 'maximum recursion depth exceeded', line(), { cause: error })
    throw error
  }
}

/** As V8 and JavaScriptCore, and as SpiderMonkey report it. */
const isStackOverflow = (error: unknown): boolean =>
  error instanceof Error &&
  ((error instanceof RangeError && /call stack/.test(error.message)) || error.name === 'InternalError')

/** Python measures in code points and, where a block does not stand in the template itself, somewhere else in the text. */
const spans = (text: string, generation: Render['generation']): Rendering['generation'] =>
  generation.map(({ start, codePoints }) => ({ start, end: unitOffset(text, codePoints, start) }))
