/**
 * Tool-call forms that no parser here reads, by what they cannot be written without, and SGLang's name of their parser
 * (`--tool-call-parser`, 0.5.23). The first that is found counts.
 */
const FORMS: readonly ForeignForm[] = [
  { mark: '<｜tool_calls_begin｜>', sglangParser: 'step3' },
  { mark: '<|action_start|>', sglangParser: 'interns1' },
]

export interface ForeignForm {
  /** What tells it. */
  readonly mark: string
  readonly sglangParser: string
}

export const foreignFormIn = (text: string): ForeignForm | undefined => FORMS.find(({ mark }) => text.includes(mark))
