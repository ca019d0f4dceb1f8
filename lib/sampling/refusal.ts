/** Why an engine cannot serve a request. */
export interface Refusal {
  /** What is missing, as one sentence. */
  readonly detail: string
  /** What to do, as one sentence. */
  readonly hint: string
}

/** Returns a refusal as one text. */
export const refusalText = ({ detail, hint }: Refusal): string => `${detail} ${hint}`
