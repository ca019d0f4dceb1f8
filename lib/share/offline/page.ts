/**
 * Writes the single-file page. Its content security policy allows only its own script and styles, by their hashes, and no requests. Texts
 * of the trajectory are base64, and the title is escaped.
 */
import { sha256 } from '@noble/hashes/sha2.js'
import { toBase64 } from '#lib/util/text/base64.ts'

/** Parts of the page. */
export interface OfflinePage {
  readonly title: string
  /** The bundle of components/offline/main.tsx. */
  readonly script: string
  readonly style: string
  /** The document as packDocument returns it. */
  readonly payload: string
}

/** Id of the script element that contains the packed document. */
export const PAYLOAD_ID = 'rollscope-document'
/** Id of the element in which the page is rendered. */
export const ROOT_ID = 'rollscope-root'

/** Returns the HTML of the page. */
export function offlineHtml({ title, script, style, payload }: OfflinePage): string {
  const [ownScript, ownStyle] = [scriptText(script), styleText(style)]
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(ownScript)}'`,
    `style-src '${hashOf(ownStyle)}'`,
    'font-src data:',
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)}</title>
<style>${ownStyle}</style>
</head>
<body>
<div id="${ROOT_ID}"></div>
<noscript>This page draws its tokens with JavaScript.</noscript>
<script type="application/json" id="${PAYLOAD_ID}">${JSON.stringify(payload).replaceAll('<', '\\u003c')}</script>
<script>${ownScript}</script>
</body>
</html>
`
}

/** Escapes end tags and comment starts in a script: HTML ends a script at its end tag even inside a string. */
const scriptText = (script: string): string =>
  withPlainLines(script)
    .replace(/<(?=\/script)/gi, '\\x3c')
    .replaceAll('<!--', '\\x3c!--')

const styleText = (style: string): string => withPlainLines(style).replace(/<(?=\/style)/gi, '\\3c ')

/** Normalizes line ends, as a browser does before it computes the hash. */
const withPlainLines = (text: string): string => text.replace(/\r\n?/g, '\n')

const hashOf = (text: string): string => `sha256-${toBase64(sha256(new TextEncoder().encode(text)))}`

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string)
