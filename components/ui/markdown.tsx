/**
 * Markdown as React elements. The text comes from a model and is not trusted: HTML stays text, images are not loaded, a link
 * becomes its text and its address, and a hidden character becomes its code point.
 */
import { lexer, type MarkedToken, type Token, type Tokens } from 'marked'
import { Fragment, type ReactNode } from 'react'
import { Breakable } from './table.tsx'
import { visibleText } from './visible-text.ts'

interface MarkdownProps {
  readonly text: string
  /** Shown instead of a text that is too long or nested too deeply. */
  readonly fallback: ReactNode
}

/** Shows Markdown of untrusted origin. */
export function Markdown({ text, fallback }: MarkdownProps) {
  const tokens = text.length > LONGEST ? undefined : tokensOf(text)
  if (!tokens)
    return (
      <>
        <p className="text-[11px] text-faint">Too long to be read as Markdown:</p>
        {fallback}
      </>
    )
  return (
    <div className="grid gap-2 [overflow-wrap:anywhere]" data-markdown>
      {blocks(tokens, OF_OTHERS)}
    </div>
  )
}

/** Elements that trusted Markdown draws in another way. */
export interface MarkdownParts {
  readonly heading: (heading: Tokens.Heading, content: ReactNode) => ReactNode
  readonly link: (link: Tokens.Link, content: ReactNode) => ReactNode
  readonly image: (image: Tokens.Image) => ReactNode
  /** Shows a table, which may be too wide. */
  readonly table: (table: ReactNode) => ReactNode
}

const OF_OTHERS: MarkdownParts = {
  heading: ({ depth }, content) => <p className={depth < 3 ? 'font-semibold text-base' : 'font-semibold'}>{content}</p>,
  link: ({ text, href }, content) => (
    <>
      {content}
      {text !== href && <span className="text-faint"> ({href})</span>}
    </>
  ),
  image: ({ text, href }) => (
    <span className="text-faint">
      [image{text && `: ${text}`}] ({href})
    </span>
  ),
  table: (table) => <div className="overflow-x-auto">{table}</div>,
}

/** Shows Markdown of any length that comes with the application. */
export const TrustedMarkdown = ({ text, parts }: { readonly text: string; readonly parts: MarkdownParts }) =>
  blocks(lexer(text), parts)

const LONGEST = 50_000

/** Returns undefined if the parser throws, for example on deep nesting. */
function tokensOf(text: string): readonly Token[] | undefined {
  try {
    return lexer(visibleText(text))
  } catch {
    return undefined
  }
}

const blocks = (tokens: readonly Token[], parts: MarkdownParts): ReactNode =>
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never change their order
  tokens.map((token, index) => <Fragment key={index}>{block(token as MarkedToken, parts)}</Fragment>)

const inline = (tokens: readonly Token[] | undefined, parts: MarkdownParts): ReactNode =>
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never change their order
  tokens?.map((token, index) => <Fragment key={index}>{phrase(token as MarkedToken, parts)}</Fragment>)

function block(token: MarkedToken, parts: MarkdownParts): ReactNode {
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'heading':
      return parts.heading(token as Tokens.Heading, inline(token.tokens, parts))
    case 'paragraph':
      return <p className="whitespace-pre-wrap">{inline(token.tokens, parts)}</p>
    case 'code':
      return (
        <pre className="overflow-x-auto whitespace-pre-wrap rounded bg-panel p-2 font-mono text-xs">{token.text}</pre>
      )
    case 'blockquote':
      return (
        <blockquote className="grid gap-2 border-line border-l-2 pl-3 text-dim">
          {blocks(token.tokens, parts)}
        </blockquote>
      )
    case 'list':
      return <List list={token as Tokens.List} parts={parts} />
    case 'table':
      return <Table table={token as Tokens.Table} parts={parts} />
    case 'hr':
      return <hr className="border-line" />
    case 'text':
      return 'tokens' in token ? inline(token.tokens, parts) : token.text
    default:
      return <p className="whitespace-pre-wrap">{phrase(token, parts)}</p>
  }
}

function phrase(token: MarkedToken, parts: MarkdownParts): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong>{inline(token.tokens, parts)}</strong>
    case 'em':
      return <em>{inline(token.tokens, parts)}</em>
    case 'del':
      return <del>{inline(token.tokens, parts)}</del>
    case 'codespan':
      return (
        <code className="rounded bg-panel px-1 font-mono text-xs [overflow-wrap:anywhere]">
          <Breakable text={token.text} />
        </code>
      )
    case 'br':
      return <br />
    case 'link':
      return parts.link(token as Tokens.Link, inline(token.tokens, parts))
    case 'image':
      return parts.image(token as Tokens.Image)
    case 'text':
      return 'tokens' in token && token.tokens ? inline(token.tokens, parts) : token.text
    case 'escape':
      return token.text
    default:
      return token.raw
  }
}

function List({ list, parts }: { readonly list: Tokens.List; readonly parts: MarkdownParts }) {
  const items = list.items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never change their order
    <li key={index}>
      {item.task && (item.checked ? '☑ ' : '☐ ')}
      {blocks(item.tokens, parts)}
    </li>
  ))
  const className = 'grid gap-1 pl-5'
  return list.ordered ? (
    <ol start={list.start === '' ? undefined : list.start} className={`list-decimal ${className}`}>
      {items}
    </ol>
  ) : (
    <ul className={`list-disc ${className}`}>{items}</ul>
  )
}

function Table({ table, parts }: { readonly table: Tokens.Table; readonly parts: MarkdownParts }) {
  const row = (cells: readonly Tokens.TableCell[], Cell: 'th' | 'td') =>
    cells.map((cell, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never change their order
      <Cell key={index} className="border border-line px-2 py-0.5 text-left [overflow-wrap:normal]">
        {inline(cell.tokens, parts)}
      </Cell>
    ))
  return parts.table(
    <table className="text-xs">
      <thead>
        <tr>{row(table.header, 'th')}</tr>
      </thead>
      <tbody>
        {table.rows.map((cells, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never change their order
          <tr key={index}>{row(cells, 'td')}</tr>
        ))}
      </tbody>
    </table>,
  )
}
