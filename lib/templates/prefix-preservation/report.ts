/**
 * What the prefix-stability doctor finds, as plain JSON: the page, `POST /api/templates/doctor` and
 * `rollscope doctor --json` show this very value. Token positions count from the start of the sequence; ranges are
 * half-open.
 */

import type { VocabEntry } from '#lib/trajectory/format/trajectory.ts'
import type { InputError } from '../document/input.ts'

/** Raised when a field changes its meaning; fields may be added without. */
export const REPORT_VERSION = 1

export interface DoctorReport {
  readonly version: typeof REPORT_VERSION
  /** Name and fingerprint of the tokenizer that gave the ids. */
  readonly tokenizer: { readonly name: string; readonly fingerprint: string }
  /** text: ids and positions are those of characters, and each marker of the template is one. */
  readonly compares: Compares
  /** Set where there is nothing to check: the template does not compile or the input is not JSON. Then there are no cells. */
  readonly failure: InputError | undefined
  readonly summary: Summary
  /** What was learnt about the template before checking it; undefined beside a failure. */
  readonly facts: TemplateFacts | undefined
  readonly cells: readonly Cell[]
  /** Undefined beside a failure, and in progress before the first row. */
  readonly recipe: Recipe | undefined
  /** Undefined beside a failure. */
  readonly trl: TrlVerdict | undefined
}

/** Cells by verdict. Stable as a whole: nothing unstable and no errors. */
export interface Summary {
  /** Distinct renders by verdict: cells whose conversation another option renders to the same text count once. */
  readonly renders: { readonly stable: number; readonly unstable: number }
  readonly stable: number
  readonly unstable: number
  /** Of the unstable ones: those whose text is the same, and whose tokens merge across a boundary. */
  readonly merges: number
  readonly notApplicable: number
  readonly errors: number
}

export const COMPARES = ['tokens', 'text'] as const
export type Compares = (typeof COMPARES)[number]

export interface TemplateFacts {
  /** Text that the model writes around its thinking; undefined: the template knows no thinking. */
  readonly thinking: { readonly open: string; readonly close: string } | undefined
  /** Fields of a message that the template reads thinking from, e.g. reasoning_content; empty: only from the content. */
  readonly thinkingFields: readonly string[]
  /** With which the template ends the last assistant turn; empty: with none. */
  readonly endOfTurn: string
  /** How arguments of calls must be given so that it renders; dropped: it renders, and prints no call. */
  readonly calls: 'object' | 'string' | 'dropped' | 'refused'
  /** Whether it takes a system message at the start. */
  readonly takesSystem: boolean
  /** Options that it reads, with the values that are tried: true and false, or the texts that it holds them against. */
  readonly options: readonly { readonly name: string; readonly values: readonly (boolean | string)[] }[]
}

/** What comes after the reply. */
export const boundaries = ['end', 'user', 'system', 'tool', 'parallel', 'order', 'retry', 'chain'] as const
export type Boundary = (typeof boundaries)[number]

/** stripped: the reply thinks, earlier replies lost their thinking on the way (clients drop it). */
export const thinkings = ['off', 'on', 'stripped'] as const
export type Thinking = (typeof thinkings)[number]

export interface Cell {
  /** Unique in the report and the same for the same question: `tool/with/on/enable_thinking=true`; of a trajectory `turn-3/as-text`. */
  readonly id: string
  readonly place: Place
  readonly verdict: TemplateVerdict
  /** Id of the first cell that renders the same conversation to the same text; undefined: it is the first. */
  readonly sameAs?: string
}

export type OptionChange = Readonly<Record<string, boolean | string | null>>

type Place =
  | {
      readonly kind: 'script'
      readonly boundary: Boundary
      /** Whether text stands beside the calls; `none` where the reply has no calls. */
      readonly content: 'with' | 'without' | 'none'
      readonly thinking: Thinking
      /** What differs from the options as given; null: left out. */
      readonly options: OptionChange
    }
  | {
      readonly kind: 'trajectory'
      /** Index of the response segment. */
      readonly segmentIndex: number
      readonly boundary: Boundary
      /** text: the content is all that was written; parsed: thinking, content and calls apart, as clients keep them. */
      readonly form: 'text' | 'parsed'
    }

export type TemplateVerdict =
  | { readonly kind: 'stable'; readonly tokens: number }
  | { readonly kind: 'unstable'; readonly finding: Finding }
  | { readonly kind: 'notApplicable'; readonly why: string }
  | { readonly kind: 'error'; readonly failure: InputError }

/** The answer to `is_chat_template_prefix_preserving` of TRL, which asks less than the matrix: one result behind one call. */
export type TrlVerdict =
  | { readonly kind: 'preserving'; readonly tokens: number }
  /** `before`: the render that ends with the call; `after`: the one that ends with its result and the generation prompt. */
  | {
      readonly kind: 'rewritten'
      readonly tokenIndex: number
      readonly before: TokenWindow
      readonly after: TokenWindow
    }
  /** TRL asks only of templates with tool calls. */
  | { readonly kind: 'notAsked'; readonly why: string }
  /** TRL raises this error. */
  | { readonly kind: 'failed'; readonly failure: InputError }

export interface Finding {
  /** Index of the first token that differs. */
  readonly tokenIndex: number
  /** turn n, what the model wrote, and what is appended for the new messages. */
  readonly expected: TokenWindow
  /** turn n+1 as the template renders it. */
  readonly rendered: TokenWindow
  /** Line that wrote the differing text of turn n+1; undefined where it ends there. */
  readonly line: number | undefined
  /** Line that wrote the differing text of turn n; undefined where the model wrote it, or where it ends there. */
  readonly expectedLine: number | undefined
  /** Index of the message of turn n+1 in which it differs; undefined outside of all. */
  readonly message: number | undefined
  readonly cause: Cause
  /** What helps, in one sentence. */
  readonly remedy: string
  /** Whether the texts differ too; otherwise tokens alone do, which merge across a boundary. */
  readonly textDiffers: boolean
  /** JSON list of messages of turn n+1: to open in the editor. */
  readonly messages: string
}

/** Tokens around the first difference. */
export interface TokenWindow {
  /** Index of the first token shown. */
  readonly start: number
  readonly tokens: readonly { readonly id: number; readonly piece: VocabEntry }[]
  /** Tokens of the whole sequence. */
  readonly length: number
}

export type CauseKind =
  | 'thinking-stripped'
  | 'empty-think-inserted'
  | 'empty-think-dropped'
  | 'generation-prompt'
  | 'whitespace'
  | 'end-of-turn'
  | 'call-reserialised'
  | 'call-dropped'
  | 'content-dropped'
  | 'content-rewritten'
  | 'results-reordered'
  | 'message-dropped'
  | 'system-changed'
  | 'history-rewritten'
  | 'new-messages-rewritten'
  | 'merge'

export interface Cause {
  readonly kind: CauseKind
  /** One sentence in plain words. */
  readonly text: string
}

/**
 * How Rollscope continues a conversation with this template: a placeholder question, a placeholder reply and the new
 * messages are rendered, cut behind the reply, and what stands there is encoded and appended to the ids so far.
 */
export interface Recipe {
  /** held: every proof held; broken: at least one did not; impossible: nothing can be appended at all. */
  readonly kind: 'held' | 'broken' | 'impossible'
  /** The added token that ends a turn, appended where the model did not write it itself; undefined: none does. */
  readonly endOfTurn: { readonly id: number; readonly text: string } | undefined
  /** Text between the end of the turn and what follows. */
  readonly separator: string
  /** The text that is appended behind a reply, end of the turn included, with the options as given. */
  readonly appended: readonly { readonly boundary: Boundary; readonly text: string }[]
  /** One for each cell where something is appended: it is what the whole conversation has behind the reply. */
  readonly proofs: readonly RecipeProof[]
}

export interface RecipeProof {
  /** Id of the cell. */
  readonly cell: string
  readonly result:
    | { readonly kind: 'held' }
    /** The two texts behind the reply, and the UTF-16 offset from which they differ. */
    | { readonly kind: 'broken'; readonly at: number; readonly appended: string; readonly whole: string }
    | { readonly kind: 'failed'; readonly failure: InputError }
}

/**
 * A change to the template that was tried: the cell turns stable, no cell gets worse, no generated conversation that was
 * stable breaks, and first prompts and last replies stay as they are.
 */
export interface Fix {
  readonly template: string
  /** One sentence: what it does. */
  readonly why: string
  /** Hunks as `diff -u` writes them, without file headers. */
  readonly diff: string
  /** Ids of the cells that turn stable. */
  readonly cured: readonly string[]
  /** How replies without calls and thinking are written otherwise in conversations; empty: as before. */
  readonly costs: readonly FixCost[]
  readonly search: FixSearch
}

export interface FixCost {
  /** Which reply is written otherwise: the last one, one that a question follows, or one of a longer conversation. */
  readonly where: 'last' | 'earlier' | 'conversation'
  /** The text of the template, and that of the fix in its place. */
  readonly before: string
  readonly after: string
  /** Options under which it is so. */
  readonly options: readonly OptionChange[]
  /** One sentence with all of that. */
  readonly text: string
}

/** Generated conversations, and how many of them are unstable with the template and with the fix. */
export interface FixSearch {
  readonly conversations: number
  readonly brokenBefore: number
  readonly brokenAfter: number
}
