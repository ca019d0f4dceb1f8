/** Source of the lab's template, as an address contains it: a copied link opens the same source. */

/** The source of a template. */
export type LabSource =
  | { readonly kind: 'sample'; readonly name: string }
  /** `template` is one of several templates, such as tool_use; undefined: the one that the conversation gets. */
  | { readonly kind: 'tokenizer'; readonly name: string; readonly template: string | undefined }
  | { readonly kind: 'server'; readonly name: string }
  | { readonly kind: 'trajectory'; readonly key: string }
  /** Only this browser has the file, so that no link can open it. */
  | { readonly kind: 'file'; readonly name: string }

/**
 * Returns a link such as `sample:chatml`, `tokenizer:Qwen/Qwen3-8B#tool_use` or `server:mine`; undefined for a source that no link can
 * open.
 */
export function sourceLink(source: LabSource | undefined): string | undefined {
  switch (source?.kind) {
    case 'sample':
    case 'server':
      return `${source.kind}:${source.name}`
    case 'tokenizer':
      return `tokenizer:${source.name}${source.template === undefined ? '' : `#${source.template}`}`
    default:
      return undefined
  }
}

/** Returns the source that a link names; undefined if it names none. */
export function linkedSource(link: string): LabSource | undefined {
  const [, kind, rest = ''] = /^(sample|tokenizer|server):(.+)$/s.exec(link) ?? []
  if (kind === 'sample' || kind === 'server') return { kind, name: rest }
  if (kind !== 'tokenizer') return undefined
  const hash = rest.lastIndexOf('#')
  return hash <= 0
    ? { kind, name: rest, template: undefined }
    : { kind, name: rest.slice(0, hash), template: rest.slice(hash + 1) }
}

/** Returns the source as text on screen. */
export function sourceText(source: LabSource): string {
  switch (source.kind) {
    case 'tokenizer':
      return source.template === undefined ? source.name : `${source.name}, ${source.template}`
    case 'trajectory':
      return `trajectory ${source.key}`
    case 'server':
      return `server ${source.name}`
    default:
      return source.name
  }
}
