/** Bundlers return the text of a file for this suffix. */
declare module '*.py?raw' {
  const text: string
  export default text
}
