/** markupsafe's Markup: HTML that is not escaped again. */
import { quoted } from './text/code-points.ts'
import { PyObject, type Value } from './values.ts'

/** A str of markupsafe that is HTML already: what is added to it is escaped. */
export class Markup extends PyObject {
  readonly typeName = 'Markup'
  override readonly module = 'markupsafe'
  readonly html: string
  constructor(html: string) {
    super()
    this.html = html
  }
  repr(): string {
    return `Markup(${quoted(this.html)})`
  }
  override text(): string {
    return this.html
  }
  override hash(): Value {
    return this.html
  }
}

/** The text of a str, markup or not. */
export function textOf(value: Value): string | undefined {
  if (typeof value === 'string') return value
  return value instanceof Markup ? value.html : undefined
}

/** markupsafe.escape of a text. */
export const escapedHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('>', '&gt;')
    .replaceAll('<', '&lt;')
    .replaceAll("'", '&#39;')
    .replaceAll('"', '&#34;')
