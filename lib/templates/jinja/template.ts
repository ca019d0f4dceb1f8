/** Jinja templates as transformers configures jinja2: compiled once, rendered often. */

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

/** A compiled Jinja template. */
export interface Template {
  /** Returns the rendered text. Throws LocatedError with the class, message and line that Python would report. */
  render(variables: ReadonlyMap<string, Value>, settings?: Partial<RenderSettings>): string
  /** Renders with the source map. The messages are the variable `messages`. Throws as `render` does. */
  trace(variables: ReadonlyMap<string, Value>, settings?: Partial<RenderSettings>): Rendering
}

/** Compiles a template. Throws LocatedError, usually with the class TemplateSyntaxError. */
export function compileTemplate(text: string): Template {
  const statements = withTemplateErrors(() => parse(text))
  const known = withTemplateErrors(() => survey(statements))
  const compiled = (isTraced: boolean): Program => withTemplateErrors(() => compile(statements, known, isTraced))
  const program = compiled(false)
  let tracing: Program | undefined
  const run = (
    start: Program,
    variables: ReadonlyMap<string, Value>,
    settings: Partial<RenderSettings>,
    trace: Trace | undefined,
  ): Render => {
    const render = new Render({ ...DEFAULTS, ...settings }, trace)
    withTemplateErrors(
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

/** Runs `action`. Every error becomes a LocatedError with a line; a stack overflow becomes the RecursionError of Python. */
function withTemplateErrors<T>(action: () => T, line: () => number = () => 1): T {
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

/** Whether an error is a stack overflow as V8 and JavaScriptCore (RangeError) or SpiderMonkey (InternalError) report it. */
const isStackOverflow = (error: unknown): boolean =>
  error instanceof Error &&
  ((error instanceof RangeError && /call stack/.test(error.message)) || error.name === 'InternalError')

/**
 * Returns the generation ranges in UTF-16 units. Python measures in code points and, if a block is captured, at another place of the text.
 */
const spans = (text: string, generation: Render['generation']): Rendering['generation'] =>
  generation.map(({ start, codePoints }) => ({ start, end: unitOffset(text, codePoints, start) }))
