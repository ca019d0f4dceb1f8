/**
 * The report of the doctor as plain JSON: the page, `POST /api/templates/doctor` and `rollscope doctor --json` show this value. Token
 * positions count from the start of the sequence; ranges are half-open.
 */

import type { VocabEntry } from '#lib/trajectory/format/trajectory.ts'
import type { InputError } from '../document/input.ts'

/** Version of the report. It is raised when a field changes its meaning; new fields do not raise it. */
export const DOCTOR_REPORT_VERSION = 1

/** The report of the doctor on a template. */
export interface DoctorReport {
  readonly version: typeof DOCTOR_REPORT_VERSION
  /** Name and fingerprint of the tokenizer that encoded the texts. */
  readonly tokenizer: { readonly name: string; readonly fingerprint: string }
  /** With 'text', ids and positions are those of characters, and each marker of the template is one character. */
  readonly compares: CompareUnit
  /** Error if there is nothing to check: the template does not compile or the input is not JSON. There are no cells then. */
  readonly failure: InputError | undefined
  readonly summary: VerdictCounts
  /** Facts about the template that are learnt before the check; undefined after a failure. */
  readonly facts: TemplateFacts | undefined
  readonly cells: readonly Cell[]
  /** Undefined after a failure, and in a report in progress before the first row. */
  readonly recipe: Recipe | undefined
  /** Undefined after a failure. */
  readonly trl: TrlVerdict | undefined
}

/** Cells by verdict. The template is stable if no cell is unstable and there are no errors. */
export interface VerdictCounts {
  /** Distinct renders by verdict: cells whose conversation another option renders to the same text count once. */
  readonly renders: { readonly stable: number; readonly unstable: number }
  readonly stable: number
  readonly unstable: number
  /** Unstable cells whose text is the same on both sides, and whose tokens merge across a boundary. */
  readonly merges: number
  readonly notApplicable: number
  readonly errors: number
}

/** What the doctor can compare: ids of the tokenizer, or characters of the text. */
export const COMPARES = ['tokens', 'text'] as const
/** One of COMPARES. */
export type CompareUnit = (typeof COMPARES)[number]

/** Facts about a template, learnt by rendering. */
export interface TemplateFacts {
  /** Text that the model writes around its thinking; undefined if the template does not render thinking. */
  readonly thinking: { readonly open: string; readonly close: string } | undefined
  /** Fields of a message from which the template reads thinking, such as reasoning_content; empty if it reads only the content. */
  readonly thinkingFields: readonly string[]
  /** Token with which the template ends the last assistant turn; '' if there is none. */
  readonly endOfTurn: string
  /**
   * Form of the arguments of calls with which it renders. 'dropped': it renders but prints no call; 'refused': it renders in neither form.
   */
  readonly calls: 'object' | 'string' | 'dropped' | 'refused'
  /** Whether the template takes a system message at the start. */
  readonly takesSystem: boolean
  /** Options that it reads, with the values that are tried: true and false, or the texts with which it compares them. */
  readonly options: readonly { readonly name: string; readonly values: readonly (boolean | string)[] }[]
}

/** Kinds of messages that follow the reply. */
export const BOUNDARY_NAMES = ['end', 'user', 'system', 'tool', 'parallel', 'order', 'retry', 'chain'] as const
/** One of `boundaries`. */
export type Boundary = (typeof BOUNDARY_NAMES)[number]

/** Kinds of thinking. 'stripped': the reply thinks, and earlier replies have lost their thinking because clients drop it. */
export const THINKING_NAMES = ['off', 'on', 'stripped'] as const
/** One of `thinkings`. */
export type Thinking = (typeof THINKING_NAMES)[number]

/** One check of the report, with its verdict. */
export interface Cell {
  /** Unique in the report, and the same for the same check: `tool/with/on/enable_thinking=true`; for a trajectory `turn-3/as-text`. */
  readonly id: string
  readonly place: Place
  readonly verdict: TemplateVerdict
  /** Id of the first cell that renders the same conversation to the same text; undefined if it is the first. */
  readonly sameAs?: string
}

/** Options that differ from the given ones; null removes an option. */
export type OptionChange = Readonly<Record<string, boolean | string | null>>

type Place =
  | {
      readonly kind: 'script'
      readonly boundary: Boundary
      /** Whether the reply has text next to its calls; `none` if it has no calls. */
      readonly content: 'with' | 'without' | 'none'
      readonly thinking: Thinking
      /** Options that differ from the given ones; null removes an option. */
      readonly options: OptionChange
    }
  | {
      readonly kind: 'trajectory'
      /** Index of the response segment. */
      readonly segmentIndex: number
      readonly boundary: Boundary
      /** 'text': the content is all that was written. 'parsed': thinking, content and calls are separate, as clients keep them. */
      readonly form: 'text' | 'parsed'
    }

/** Verdict of a cell; `tokens` is the number of ids of turn n+1. */
export type TemplateVerdict =
  | { readonly kind: 'stable'; readonly tokens: number }
  | { readonly kind: 'unstable'; readonly finding: CellFinding }
  | { readonly kind: 'notApplicable'; readonly why: string }
  | { readonly kind: 'error'; readonly failure: InputError }

/** The answer of `is_chat_template_prefix_preserving` of TRL, which checks less than the matrix: one result after one call. */
export type TrlVerdict =
  | { readonly kind: 'preserving'; readonly tokens: number }
  /** `before` is the render that ends with the call, `after` the one that ends with its result and the generation prompt. */
  | {
      readonly kind: 'rewritten'
      readonly tokenIndex: number
      readonly before: TokenWindow
      readonly after: TokenWindow
    }
  /** TRL checks only templates with tool calls. */
  | { readonly kind: 'notAsked'; readonly why: string }
  /** TRL raises this error. */
  | { readonly kind: 'failed'; readonly failure: InputError }

/** The first difference between the two sides of a cell, with its cause. */
export interface CellFinding {
  /** Index of the first token that differs. */
  readonly tokenIndex: number
  /** Turn n, the text that the model wrote, and the text that is appended for the new messages. */
  readonly expected: TokenWindow
  /** Turn n+1 as the template renders it. */
  readonly rendered: TokenWindow
  /** Line that wrote the differing text of turn n+1; undefined if turn n+1 ends there. */
  readonly line: number | undefined
  /** Line that wrote the differing text of turn n; undefined if the model wrote it, or if turn n ends there. */
  readonly expectedLine: number | undefined
  /** Index of the message of turn n+1 that contains the difference; undefined outside of all messages. */
  readonly message: number | undefined
  readonly cause: DifferenceCause
  /** What usually removes the cause, in one sentence. */
  readonly remedy: string
  /** Whether the texts differ too. Otherwise only tokens differ, because they merge across a boundary. */
  readonly textDiffers: boolean
  /** Messages of turn n+1 as a JSON list, for the editor. */
  readonly messages: string
}

/** Tokens around the first difference. */
export interface TokenWindow {
  /** Index of the first token shown. */
  readonly start: number
  readonly tokens: readonly { readonly id: number; readonly piece: VocabEntry }[]
  /** Number of tokens of the whole sequence. */
  readonly length: number
}

/** Names of causes; each has a remedy (cause.ts). */
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
  | 'time'

/** Why the two sides differ. */
export interface DifferenceCause {
  readonly kind: CauseKind
  /** One sentence in plain words. */
  readonly text: string
}

/**
 * How Rollscope continues a conversation with this template: a placeholder question, a placeholder reply and the new messages are rendered;
 * the text after the reply is encoded and appended to the ids so far.
 */
export interface Recipe {
  /** held: every proof is true; broken: at least one is false; impossible: nothing can be appended at all. */
  readonly kind: 'held' | 'broken' | 'impossible'
  /** The added token that ends a turn, which is appended if the model did not write it itself; undefined if there is none. */
  readonly endOfTurn: { readonly id: number; readonly text: string } | undefined
  /** Text between the end of the turn and what follows. */
  readonly separator: string
  /** Text that is appended after a reply, including the end of the turn, with the given options. */
  readonly appended: readonly { readonly boundary: Boundary; readonly text: string }[]
  /** One for each cell where something is appended: whether the whole conversation has the same text after the reply. */
  readonly proofs: readonly RecipeProof[]
}

/** Whether the appended text of one cell equals the rendered one. */
export interface RecipeProof {
  /** Id of the cell. */
  readonly cell: string
  readonly result:
    | { readonly kind: 'held' }
    /** The two texts after the reply, and the UTF-16 offset from which they differ. */
    | { readonly kind: 'broken'; readonly at: number; readonly appended: string; readonly whole: string }
    | { readonly kind: 'failed'; readonly failure: InputError }
}

/**
 * A change to the template that was tried: the cell becomes stable, no cell gets worse, no generated conversation that was stable breaks,
 * and first prompts and last replies remain unchanged.
 */
export interface Fix {
  readonly template: string
  /** What the change does, in one sentence. */
  readonly why: string
  /** Hunks as `diff -u` writes them, without file headers. */
  readonly diff: string
  /** Ids of the cells that become stable. */
  readonly cured: readonly string[]
  /** Replies without calls and thinking that are written differently in conversations; empty if there are none. */
  readonly costs: readonly FixCost[]
  readonly search: FixSearch
}

/** A reply that the fix writes differently. */
export interface FixCost {
  /** Position of the reply: the last one, one that a question follows, or one of a longer conversation. */
  readonly where: 'last' | 'earlier' | 'conversation'
  /** Text of the template; `after` is the text of the fix in its place. */
  readonly before: string
  readonly after: string
  /** Options under which the texts differ. */
  readonly options: readonly OptionChange[]
  /** One sentence with all of this. */
  readonly text: string
}

/** Number of generated conversations, and of those that are unstable with the template and with the fix. */
export interface FixSearch {
  readonly conversations: number
  readonly brokenBefore: number
  readonly brokenAfter: number
}
