/** Converts the result of an MCP tool to text for a model. */
import { type ContentBlock, ContentBlockSchema } from '@modelcontextprotocol/sdk/types.js'

/** The result of a tool as a model receives it. */
export interface McpResult {
  readonly text: string
  /** True if the tool reports that it failed. */
  readonly isError: boolean
}

/** A result as received: invalid parts are reported in place, and the rest is read. */
export interface RawToolResult {
  readonly content?: unknown
  readonly structuredContent?: unknown
  /** The result before protocol version 2024-11. */
  readonly toolResult?: unknown
  readonly isError?: unknown
}

/** Returns the texts in order, or the structured result as JSON if there are none. Omitted blocks are named. */
export function mcpResultOf({ content = [], structuredContent, toolResult, isError }: RawToolResult): McpResult {
  const blocks = Array.isArray(content)
    ? content.map(readBlock)
    : [{ text: '[the content is not a list, and is not shown]' }]
  const structured = blocks.some(({ isText }) => isText) ? undefined : (structuredContent ?? toolResult)
  const parts = [...blocks.map(({ text }) => text), ...(structured === undefined ? [] : [JSON.stringify(structured)])]
  return {
    // Half of a surrogate pair is not a character: neither tokenizers nor files can store it.
    text: parts.join('\n').toWellFormed(),
    isError: isError === true,
  }
}

function readBlock(value: unknown): { readonly text: string; readonly isText?: boolean } {
  const { data: block } = ContentBlockSchema.safeParse(value)
  if (block) return { text: blockText(block), isText: block.type === 'text' }
  const { type } = (value ?? {}) as { readonly type?: unknown }
  return { text: `[${typeof type === 'string' ? type : 'block without a type'}: cannot be read, not shown]` }
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
