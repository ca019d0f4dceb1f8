let context: CanvasRenderingContext2D | null = null

/** Returns the width of a text in pixels, in the font of the token view at that size. */
export function measureText(text: string, fontSize: number): number {
  context ??= document.createElement('canvas').getContext('2d')
  if (!context) return text.length * 0.6 * fontSize
  const font = `${fontSize}px ${TOKEN_FONTS}`
  if (font !== currentFont) context.font = currentFont = font
  return context.measureText(text).width
}

let currentFont = ''

/** Font family of .token-canvas in the style sheet. */
export const TOKEN_FONTS = '"JetBrains Mono Variable", ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace'
