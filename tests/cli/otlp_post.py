# SPDX-License-Identifier: BSD-2-Clause
"""otlp_post.py URL FILE [--type TYPE] [--encoding ENCODING] [--header NAME:VALUE] [--chunked] [--times N] [--method METHOD]

Sends the file as a tracer does, and prints "STATUS TYPE BODY" of each answer; "again" if there is a Retry-After. Ends with 0.
"""
import argparse
import http.client
import urllib.parse


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("file")
    parser.add_argument("--type", default="application/json")
    parser.add_argument("--encoding")
    parser.add_argument("--header", action="append", default=[])
    parser.add_argument("--chunked", action="store_true")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--method", default="POST")
    options = parser.parse_args()
    with open(options.file, "rb") as file:
        body = file.read()
    headers = dict(header.split(":", 1) for header in options.header)
    if options.type:
        headers["Content-Type"] = options.type
    if options.encoding:
        headers["Content-Encoding"] = options.encoding
    url = urllib.parse.urlsplit(options.url)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
    for _ in range(options.times):
        try:
            chunks = (body[i : i + 65536] for i in range(0, len(body), 65536))
            connection.request(options.method, url.path, chunks if options.chunked else body, headers, encode_chunked=options.chunked)
            answer = connection.getresponse()
        except OSError:  # it has answered before all was sent
            answer = connection.response_class(connection.sock, method="POST") if connection.sock else None
            try:
                answer.begin()
            except (AttributeError, OSError, http.client.HTTPException):
                print("closed")
                connection.close()
                continue
        text = answer.read().decode(errors="replace").strip()
        again = " again" if answer.headers.get("Retry-After") else ""
        print(f"{answer.status} {answer.headers.get('Content-Type')}{again} {text}".rstrip())
        if answer.will_close:
            connection.close()


main()
