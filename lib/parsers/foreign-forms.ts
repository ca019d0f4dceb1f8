/**
 * Tool-call forms that no parser here reads, by what they cannot be written without; SGLang's name of their parser
 * (`--tool-call-parser`, 0.5.23), where it has one. The first that is found counts.
 */
const FORMS: readonly ForeignForm[] = [
  { mark: '<｜tool_calls_begin｜>', sglangParser: 'step3' },
  { mark: '<|action_start|>', sglangParser: 'interns1' },
  // functionary 3.1: JSON behind the name.
  { mark: '<{start_tag}=' },
]

export interface ForeignForm {
  /** What tells it. */
  readonly mark: string
  readonly sglangParser?: string
}

export const foreignFormIn = (text: string): ForeignForm | undefined => FORMS.find(({ mark }) => text.includes(mark))
