import { visibleText } from './visible-text.ts'

/** A text of others within one of ours: each character seen, and its direction its own. */
export const ForeignText = ({ children }: { readonly children: string }) => <bdi>{visibleText(children)}</bdi>
