// Makes icons.svg, the one file of all icons that pages use, from the package lucide-static:
//
//     npm install lucide-static@1.62.0 && node sprite.mjs node_modules/lucide-static > icons.svg
//
// For another icon add its name, run this, and put the new digests into VENDOR.toml.
import { readFileSync } from "node:fs";

const NAMES = `
  activity archive book-open bug building-2 calendar chart-line check chevron-down chevron-left
  chevron-right chevrons-up-down circle-alert circle-check circle-question-mark copy database
  download ellipsis eye file-text folder globe history house info key-round keyboard layers
  link list list-filter lock log-out map menu monitor newspaper pause pencil play plus repeat
  rotate-ccw rss scale search settings shield-alert siren sun-moon terminal trash-2
  triangle-alert undo-2 upload user users wallet webhook x
`.trim().split(/\s+/);

const SHAPE = /<(path|circle|rect|line|polyline|polygon|ellipse)\b[^>]*\/>/g;
const symbol = (name) => {
  const text = readFileSync(`${process.argv[2]}/icons/${name}.svg`, "utf8");
  return `<symbol id="${name}" viewBox="0 0 24 24">${text.match(SHAPE).join("").replaceAll(" />", "/>")}</symbol>\n`;
};
process.stdout.write(
  '<svg xmlns="http://www.w3.org/2000/svg" fill="none" stroke="currentColor" ' +
  `stroke-linecap="round" stroke-linejoin="round">\n${NAMES.map(symbol).join("")}</svg>\n`,
);
