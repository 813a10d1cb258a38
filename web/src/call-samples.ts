import { checkTextFormat, type TextForm, type TextFormat } from "../../src/text/text-form.ts";

/** The languages in which a call is shown. */
export const callLanguages = ["curl", "javascript", "python", "go", "java"] as const;

/** One of {@link callLanguages}. */
export type CallLanguage = (typeof callLanguages)[number];

/** Their names. */
export const callLanguageNames: Readonly<Record<CallLanguage, string>> = {
  curl: "curl",
  javascript: "JavaScript",
  python: "Python",
  go: "Go",
  java: "Java",
};

/** A press of Generate, for those who want the same from a program. */
interface SampledCall {
  /** The folder of the server, with a slash at its end. */
  readonly base: string;
  readonly count: number;
  readonly format: TextFormat;
  /** Whether the server wants a token, which the code takes from the variable SNOWLANE_TOKEN. */
  readonly hasToken: boolean;
}

/** A call as HTTP has it. */
interface HttpCall {
  readonly url: string;
  /** JSON without a quote of the kind `'` or a backslash. */
  readonly body: string;
  readonly hasToken: boolean;
  /** The key of what the caller wants in the answer. */
  readonly key: "id" | "text" | "ids" | "texts";
}

/** The code that makes a call by JSON over HTTP, with what its language brings along: docs/adr/0215 says why. */
export function callSample(language: CallLanguage, { base, count, format, hasToken }: SampledCall): string {
  checkTextFormat(format);
  const isOne = count === 1;
  const isDecimal = format.form === "decimal";
  const request = { ...(isOne ? {} : { count }), ...(isDecimal ? {} : { textFormat: formatJson(format) }) };
  return writers[language]({
    url: `${base.replaceAll("'", "%27")}snowlane.v1.IdService/${isOne ? "NextId" : "NextIds"}`,
    body: JSON.stringify(request),
    hasToken,
    key: isOne ? (isDecimal ? "id" : "text") : isDecimal ? "ids" : "texts",
  });
}

/** The names of the forms in proto/snowlane/v1/id_service.proto, where they are others than ours in capitals. */
const formNames: Readonly<Partial<Record<TextForm, string>>> = { serial: "SERIAL_NUMBER" };

function formatJson({ form, ...options }: TextFormat): object {
  return { form: `TEXT_FORM_${formNames[form] ?? form.toUpperCase()}`, ...options };
}

const writers: Readonly<Record<CallLanguage, (call: HttpCall) => string>> = {
  // No line is indented: a panel that folds a long one would leave an empty line.
  curl: ({ url, body, hasToken }) =>
    [
      `curl -d '${body}' \\`,
      "-H 'content-type: application/json' \\",
      ...(hasToken ? ['-H "authorization: Bearer $SNOWLANE_TOKEN" \\'] : []),
      `'${url}'`,
    ].join("\n"),
  javascript: ({ url, body, hasToken, key }) =>
    `const response = await fetch("${url}", {
  method: "POST",
  headers: {
    "content-type": "application/json",${hasToken ? "\n    authorization: `Bearer ${process.env.SNOWLANE_TOKEN}`," : ""}
  },
  body: '${body}',
});
if (!response.ok) throw new Error(await response.text());
const { ${key} } = await response.json();
console.log(${key.endsWith("s") ? `${key}.join("\\n")` : key});`,
  python: ({ url, body, hasToken, key }) =>
    `import json
${hasToken ? "import os\n" : ""}import urllib.request

request = urllib.request.Request(
    "${url}",
    data=b'${body}',
    headers={
        "content-type": "application/json",${
          hasToken ? '\n        "authorization": "Bearer " + os.environ["SNOWLANE_TOKEN"],' : ""
        }
    },
)
with urllib.request.urlopen(request) as response:
    answer = json.load(response)
print(${key.endsWith("s") ? `*answer["${key}"], sep="\\n"` : `answer["${key}"]`})`,
  go: ({ url, body, hasToken, key }) =>
    `package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"${hasToken ? '\n\t"os"' : ""}
	"strings"
)

func main() {
	body := strings.NewReader(\`${body}\`)
	request, err := http.NewRequest("POST", "${url}", body)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("content-type", "application/json")${
    hasToken ? '\n\trequest.Header.Set("authorization", "Bearer "+os.Getenv("SNOWLANE_TOKEN"))' : ""
  }
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		log.Fatal(response.Status)
	}
	var answer struct {
		Found ${key.endsWith("s") ? "[]string" : "string"} \`json:"${key}"\`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		log.Fatal(err)
	}
	fmt.Println(${key.endsWith("s") ? 'strings.Join(answer.Found, "\\n")' : "answer.Found"})
}`,
  // Java reads no JSON by itself.
  java: ({ url, body, hasToken }) =>
    `import java.net.URI;
import java.net.http.*;

class Generate {
  public static void main(String[] arguments) throws Exception {
    HttpRequest request = HttpRequest.newBuilder(URI.create("${url}"))
        .header("content-type", "application/json")${
          hasToken ? '\n        .header("authorization", "Bearer " + System.getenv("SNOWLANE_TOKEN"))' : ""
        }
        .POST(HttpRequest.BodyPublishers.ofString("${body.replaceAll('"', '\\"')}"))
        .build();
    HttpResponse<String> response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() != 200) throw new IllegalStateException(response.body());
    System.out.println(response.body());
  }
}`,
};
