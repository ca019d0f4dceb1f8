/** The text of a file, as the bundlers give it for this suffix. */
declare module '*.py?raw' {
  const text: string
  export default text
}
