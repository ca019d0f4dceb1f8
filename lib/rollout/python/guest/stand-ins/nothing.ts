/** The stand-in for modules that Pyodide names but does not need here: node:vm, ws. */
export default {}
