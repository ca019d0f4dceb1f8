/**
 * Tool-call formats without a parser here, with a mark that each contains and SGLang's name of its parser
 * (`--tool-call-parser`, 0.5.23). The first that is found counts.
 */
const FORMS: readonly ForeignForm[] = [{ mark: '<rfl:parameter', sglangParser: 'beam' }]

/** A format without a parser here. */
export interface ForeignForm {
  /** Text that identifies the format. */
  readonly mark: string
  readonly sglangParser: string
}

/** Returns the foreign format of a text, or undefined. */
export const foreignFormIn = (text: string): ForeignForm | undefined => FORMS.find(({ mark }) => text.includes(mark))
