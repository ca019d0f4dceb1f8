let context: CanvasRenderingContext2D | null = null

/** Width in pixels, in the font of the token view. */
export function measureText(text: string): number {
  context ??= document.createElement('canvas').getContext('2d')
  if (!context) return text.length * 7.8
  context.font = TOKEN_FONT
  return context.measureText(text).width
}

/** As .token-text in the style sheet. */
const TOKEN_FONT = '13px "JetBrains Mono Variable", ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace'
