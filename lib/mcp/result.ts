/** What an MCP tool answered, as a text that a model can read. */
import { type ContentBlock, ContentBlockSchema } from '@modelcontextprotocol/sdk/types.js'

export interface McpResult {
  readonly text: string
  /** The tool says of itself that it failed. */
  readonly isError: boolean
}

/** A result as it came: what is odd in it is said in its place, and the rest is read. */
export interface AnsweredResult {
  readonly content?: unknown
  readonly structuredContent?: unknown
  /** Before 2024-11 the result was this. */
  readonly toolResult?: unknown
  readonly isError?: unknown
}

/** Texts one after the other; where there is none, the structured result as JSON. Nothing is left out without a word. */
export function resultOf({ content = [], structuredContent, toolResult, isError }: AnsweredResult): McpResult {
  const blocks = Array.isArray(content) ? content.map(readBlock) : [{ text: '[content that is no list: not shown]' }]
  const structured = blocks.some(({ isText }) => isText) ? undefined : (structuredContent ?? toolResult)
  const parts = [...blocks.map(({ text }) => text), ...(structured === undefined ? [] : [JSON.stringify(structured)])]
  return {
    // Half of a pair is no character: neither tokenizers nor files can keep it.
    text: parts.join('\n').toWellFormed(),
    isError: isError === true,
  }
}

function readBlock(value: unknown): { readonly text: string; readonly isText?: boolean } {
  const { data: block } = ContentBlockSchema.safeParse(value)
  if (block) return { text: blockText(block), isText: block.type === 'text' }
  const { type } = (value ?? {}) as { readonly type?: unknown }
  return { text: `[${typeof type === 'string' ? type : 'a block without a type'}: cannot be read, not shown]` }
}

function blockText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return `[${block.type}, ${block.mimeType}, ${byteCount(block.data)} bytes: not shown]`
    case 'resource':
      return 'text' in block.resource
        ? block.resource.text
        : `[resource ${block.resource.uri}, ${byteCount(block.resource.blob)} bytes: not shown]`
    case 'resource_link':
      return `[resource ${block.uri}]`
  }
}

const byteCount = (base64: string): number => Buffer.byteLength(base64, 'base64')
