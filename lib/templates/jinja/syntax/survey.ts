/** Facts about a whole template that are needed before any part of it is compiled. */
import { type BlockNode, children, LocatedError, type Node, type Statement } from './syntax.ts'

/** Names, blocks and tags of a template. */
export interface Survey {
  readonly blocks: ReadonlyMap<string, BlockNode>
  /** Whether `loop` is stored anywhere, which is forbidden within loops and rare. */
  readonly storesLoop: boolean
  readonly hasGenerationTag: boolean
  /** Every name that is read anywhere. */
  readonly names: ReadonlySet<string>
}

/**
 * Greatest depth of the tree. Chains such as `a + b + c` make it deep without nesting. Python fails at 98 nested statements and at 198
 * operands.
 */
const MOST_DEPTH = 400

/**
 * Collects the facts. Throws LocatedError: RecursionError for a tree that is too deep, TemplateAssertionError for two blocks of the same
 * name.
 */
export function survey(template: readonly Statement[]): Survey {
  const blocks = new Map<string, BlockNode>()
  const names = new Set<string>()
  let storesLoop = false
  let hasGenerationTag = false
  const open: Node[] = template.toReversed()
  const depths = open.map(() => 1)
  for (let node = open.pop(), depth = depths.pop(); node && depth; node = open.pop(), depth = depths.pop()) {
    if (depth > MOST_DEPTH) throw new LocatedError('RecursionError', 'maximum recursion depth exceeded', node.line)
    if ('kind' in node) {
      if (node.kind === 'name') names.add(node.name)
      else if (node.kind === 'block') addBlock(blocks, node)
      else if (node.kind === 'name-target') storesLoop ||= node.name === 'loop'
      else if (node.kind === 'call-block') hasGenerationTag ||= node.call === 'generation'
    }
    const below = children(node)
    for (let index = below.length - 1; index >= 0; index--) {
      const child = below[index]
      if (!child) continue
      open.push(child)
      depths.push(depth + 1)
    }
  }
  return { blocks, storesLoop, hasGenerationTag, names }
}

function addBlock(blocks: Map<string, BlockNode>, block: BlockNode): void {
  if (blocks.has(block.name))
    throw new LocatedError('TemplateAssertionError', `block '${block.name}' defined twice`, block.line)
  blocks.set(block.name, block)
}
