/**
 * The single-file page. A policy in it lets only its own script and styles run, known by their hashes, and no request
 * leave; texts of the trajectory stand in it as base64, and the title escaped.
 */
import { sha256 } from '@noble/hashes/sha2.js'
import { toBase64 } from './payload.ts'

export interface OfflinePage {
  readonly title: string
  /** components/offline/main.tsx, bundled. */
  readonly script: string
  readonly style: string
  /** Of packDocument. */
  readonly payload: string
}

export const PAYLOAD_ID = 'rollscope-document'
export const ROOT_ID = 'rollscope-root'

export function offlineHtml({ title, script, style, payload }: OfflinePage): string {
  const [ownScript, ownStyle] = [scriptText(script), styleText(style)]
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(ownScript)}'`,
    `style-src '${hashOf(ownStyle)}'`,
    'font-src data:',
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
<title>${escaped(title)}</title>
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

/** A script ends at its end tag even within a string, and a comment's beginning changes how that is looked for. */
const scriptText = (script: string): string =>
  withPlainLines(script)
    .replace(/<(?=\/script)/gi, '\\x3c')
    .replaceAll('<!--', '\\x3c!--')

const styleText = (style: string): string => withPlainLines(style).replace(/<(?=\/style)/gi, '\\3c ')

/** A browser reads other line ends as these before it takes the hash. */
const withPlainLines = (text: string): string => text.replace(/\r\n?/g, '\n')

const hashOf = (text: string): string => `sha256-${toBase64(sha256(new TextEncoder().encode(text)))}`

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string)
