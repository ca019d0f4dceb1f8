import { visibleText } from './visible-text.ts'

/** Shows a foreign text within a text of the application: hidden characters are visible, and its direction is isolated. */
export const ForeignText = ({ children }: { readonly children: string }) => <bdi>{visibleText(children)}</bdi>
