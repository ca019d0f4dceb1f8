/** Markup of markupsafe: HTML that is not escaped again. */
import { quoteText } from './text/code-points.ts'
import { PyObject, type Value } from './values.ts'

/** A str of markupsafe that is HTML already; text that is added to it is escaped. */
export class Markup extends PyObject {
  readonly typeName = 'Markup'
  override readonly module = 'markupsafe'
  readonly html: string
  constructor(html: string) {
    super()
    this.html = html
  }
  repr(): string {
    return `Markup(${quoteText(this.html)})`
  }
  override text(): string {
    return this.html
  }
  override hash(): Value {
    return this.html
  }
  override truth(): boolean {
    return this.html !== ''
  }
}

/** Returns the text of a str, plain or markup; undefined for other values. */
export function stringOf(value: Value): string | undefined {
  if (typeof value === 'string') return value
  return value instanceof Markup ? value.html : undefined
}

/** Implements markupsafe.escape for a text. */
export const escapedHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('>', '&gt;')
    .replaceAll('<', '&lt;')
    .replaceAll("'", '&#39;')
    .replaceAll('"', '&#34;')
