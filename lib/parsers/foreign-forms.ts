/**
 * Tool-call forms that no parser here reads, by what they cannot be written without; SGLang's name of their parser
 * (`--tool-call-parser`, 0.5.23), where it has one. The first that is found counts.
 */
const FORMS: readonly ForeignForm[] = [
  { mark: '<｜tool_calls_begin｜>', sglangParser: 'step3' },
  { mark: '<|action_start|>', sglangParser: 'interns1' },
  // Seed-OSS: parameters as qwen_xml has them, between other tokens.
  { mark: '<seed:tool_call>' },
  // functionary 3.1: JSON behind the name.
  { mark: '<{start_tag}=' },
  // Apriel: a list of objects.
  { mark: '<tool_calls>[' },
]

export interface ForeignForm {
  /** What tells it. */
  readonly mark: string
  readonly sglangParser?: string
}

export const foreignFormIn = (text: string): ForeignForm | undefined => FORMS.find(({ mark }) => text.includes(mark))
