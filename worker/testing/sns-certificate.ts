// A certificate like those of Amazon SNS, valid until 2126, and its private key. Both are only for tests.

export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIDGzCCAgOgAwIBAgIUbGGJgKOgUrWmXkhQisZARGYoCA0wDQYJKoZIhvcNAQEL
BQAwHDEaMBgGA1UEAwwRc25zLmFtYXpvbmF3cy5jb20wIBcNMjYxMTI4MDk0ODA1
WhgPMjEyNjExMDQwOTQ4MDVaMBwxGjAYBgNVBAMMEXNucy5hbWF6b25hd3MuY29t
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEArvL5rCWGnVHhHHpjCxEq
OyNIhaC2PJvOcSzu1m/oxSk2mlTmpXq773Z8eCj4lWVWwVQEjLef6tZXJ3KQDGuL
k7i7OVCojCmmLGCCam+PonOHRPlgMmisHbJiBgBuSx71ur2Lfyfpeq2IrgxMuma3
Zy+JNcQcsmbN9xto2eQrtNRuSzbCB5w0Vh1tdUcW2938z8ww8qxzi91rngu7GWwt
SRoZe5sWaa5A4GqeQkD0F51kHhtldf+RT/IC2U2OKwFyziROT5PNThTvu5uHDuEr
sM0MruuO0a7ga5JLzY7GyGt5FuA1h5kH2BlEz3vLXW5FXfJQWZTYSp2KuFNF0zBq
2QIDAQABo1MwUTAdBgNVHQ4EFgQUovUoua9VCNBdBSisUZnhnuJJGkAwHwYDVR0j
BBgwFoAUovUoua9VCNBdBSisUZnhnuJJGkAwDwYDVR0TAQH/BAUwAwEB/zANBgkq
hkiG9w0BAQsFAAOCAQEABR2F9SLITcJ3JFz8cojznLGPLhC5+ODiJI5/jlDGQmnQ
V6YkLHfm3FKtNup/PfPk0xtRyUxQHQWsn+RgNObIycy6HxjSxSOS1R2l/XH7s2wc
y1+3GlrLp0hyHvjeNBVFGwGiJPcDz8Fj5DYfZO19FNtxaS/raNUzoacan59kJjeX
TKSOe3wD7LC9GD1ERD5/0LA/ptA8LygpYEwA8lkqQnrxZ8JLOdHhReAQGfWIzVkU
s2WPeLDguRXHBJKRG4UOXfp5B66cPXJHVzav6c+QAIm7j+74n4ize0l4haQgCayV
r+rXdMDtYdws5ZOFb2/3Kfp8NFsH2DmQcLAjkZ1Zpg==
-----END CERTIFICATE-----
`;

const PRIVATE_KEY = [
  "MIIEugIBADANBgkqhkiG9w0BAQEFAASCBKQwggSgAgEAAoIBAQCu8vmsJYadUeEcemMLESo7I0iFoLY8m85xLO7Wb+jFKTaaVOalervvdnx4KP",
  "iVZVbBVASMt5/q1lcncpAMa4uTuLs5UKiMKaYsYIJqb4+ic4dE+WAyaKwdsmIGAG5LHvW6vYt/J+l6rYiuDEy6ZrdnL4k1xByyZs33G2jZ5Cu0",
  "1G5LNsIHnDRWHW11Rxbb3fzPzDDyrHOL3WueC7sZbC1JGhl7mxZprkDgap5CQPQXnWQeG2V1/5FP8gLZTY4rAXLOJE5Pk81OFO+7m4cO4SuwzQ",
  "yu647RruBrkkvNjsbIa3kW4DWHmQfYGUTPe8tdbkVd8lBZlNhKnYq4U0XTMGrZAgMBAAECgf8JZYODe4B/cqZkoS4wqftascpzYu5m0veDnKY3",
  "XktiS5RjNawttyng8rw8t/aiD49ZUunrpPEx69FCjSSvhhc5F/L2YR6saJBEUeqvTM6qKwpY6gwAqR6Veb9KEzvZTRBlt0iGy93+eNOehYqZeG",
  "rhX+w+twnTizIE07QN//NZAvksFaHRBbtKJc7ECNS4rm8Y51iLuRkqtKNGUgn3/iJlWsaYzcWZKPUPncsGpYQ5QP/VklXju4k7t0qLih43jZBI",
  "D4yfHGZRzuOtB0Zb2QV7cirHAWimWjhWQr2VSipWYleb2qMT1AhLnMbAZzEpDqICEJUu3tgXE5+96dtKlh0CgYEA2MS6aU+Ifn3FcCGPDou2k7",
  "jVC8O20nnH9Le4Ko8WfpuXtzOlc0SU4VQ3cILhP8+pYBGm822XiLx6F5nZ8OlTIJT2DVKpxBzH3GZaHZw77r8iSjFoupfEGtIYAiBbyxJa49mZ",
  "Zef0VSIjeVyOvMJOdPA164HpGyCYnBM+zFEGySUCgYEAzpyuiRuZy/aEuR7NgTim2EPg7kTy8j+gFYVbsGSCTwF/L/wBY83ucrS4OQ+gE8nmjg",
  "siKEhNfZNuJ40TfI2fyas6tpzXBdT+ton8gtIb1Q4zncAdniJvhZCGzuklC/ZOZtM47NN9apdWNGGe+s5W3S2MKF+F/w+RPH8lQn6RzqUCgYAx",
  "1PftocUFHzC2WGCkvWWZjBIeBD4RIMHg9iM2VXKcZHR6Pzs3xnpbWprsGIpjuv97AFPa/kSpwHpo1ouNoHXltZji8y/nz536guUQjYwRlIrzd2",
  "xWCPGiIM44Huw7QNr4KlvjW3GF6LUy/x4pMpoKs/YRT+ogvFuY9auoGLBwqQKBgBfw2+CTTCzwMczpntJ8aAjjRKsXXjdn2/riaw9zdg4FlGFR",
  "CDAyapDsE/S4tMnWOVr4O0sDpccJUFhQ5pMmLf/GUZVbcyb/2Uv5jULzabo0XRLIciYiw11ss9JB/cL3FXqguxXmI8A4LQsAzNUvF62lW3pKJ1",
  "K40RF7givEUszpAoGAHZtylIJV5x562zt8Pwitsvh/NntJMrs1n38ytf4pYq+CbCW4+Uks/QoP/zp1nY5gUuzUoABLb5UPK/K6vgeN4MF2Sot5",
  "Vb8I3QvXaA3k1V1hMOReNMdBP6fn3ohmvXAn8uiLhjSfoSRwFXFqbwu1aIh8RrZFBzF2toZ+HlusBNw=",
].join("");

/** Signs a text as SNS does: RSA with SHA-1 (`SignatureVersion` 1) or SHA-256 (2). */
export async function signLikeSns(text: string, version: "1" | "2"): Promise<string> {
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: version === "1" ? "SHA-1" : "SHA-256" };
  const bytes = Uint8Array.from(atob(PRIVATE_KEY), (char) => char.charCodeAt(0));
  const key = await crypto.subtle.importKey("pkcs8", bytes, algorithm, false, ["sign"]);
  const signature = await crypto.subtle.sign(algorithm.name, key, new TextEncoder().encode(text));
  return btoa(String.fromCharCode(...new Uint8Array(signature)));
}
