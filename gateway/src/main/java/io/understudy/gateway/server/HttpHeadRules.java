package io.understudy.gateway.server;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Rejects HTTP/1.1 request heads that Netty accepts and etcd rejects.
 *
 * <p>The rules are those of Go's {@code net/http} ({@code request.go}, {@code transfer.go}, {@code server.go}): two
 * servers that disagree on where a request ends let one request pass inside another.
 */
final class HttpHeadRules {

    /** {@code validHostByte} in {@code golang.org/x/net/http/httpguts}. */
    private static final Pattern VALID_HOST = Pattern.compile("[0-9A-Za-z!$%&()*+,.:;='\\[\\]_~-]*");

    private static final Pattern VERSION = Pattern.compile("HTTP/[0-9]\\.[0-9]");
    private static final String AUTHORITY =
            "(?:[^@/?]*@)?(?:\\[[0-9A-Fa-f:.%]*\\]|[0-9A-Za-z!$%&()*+,.;='<>\"_~-]*)(?::[0-9]*)?";
    private static final Pattern TARGET = Pattern.compile(
            "(?:[A-Za-z][A-Za-z0-9+.-]*://" + AUTHORITY + "(?=[/?]|$))?((?:/[^?]*)?(?:\\?.*)?)", Pattern.DOTALL);
    /** A URL without a path ({@code Opaque} in Go's {@code net/url}). */
    private static final Pattern OPAQUE = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*:(?:[^/].*)?", Pattern.DOTALL);

    private static final Pattern BROKEN_ESCAPE = Pattern.compile("^[^?]*%(?![0-9A-Fa-f]{2})");

    private HttpHeadRules() {}

    /** Returns the status to reject a request with; null if it is valid. */
    static @Nullable HttpResponseStatus refusal(HttpRequest request, boolean rawPath) {
        HttpVersion version = request.protocolVersion();
        HttpHeaders headers = request.headers();
        List<String> hosts = headers.getAll(HttpHeaderNames.HOST);
        String origin = origin(request.method(), request.uri());
        boolean named = version.equals(HttpVersion.HTTP_1_1)
                || VERSION.matcher(version.text()).matches();
        if (!named
                || origin == null
                || (!rawPath && BROKEN_ESCAPE.matcher(origin).find())
                || hosts.size() > 1
                || headers.getAll(HttpHeaderNames.CONTENT_LENGTH).size() > 1) {
            return HttpResponseStatus.BAD_REQUEST;
        }
        if (hasOtherCoding(request)) {
            return HttpResponseStatus.NOT_IMPLEMENTED;
        }
        if (version.majorVersion() != 1) {
            return HttpResponseStatus.HTTP_VERSION_NOT_SUPPORTED;
        }
        boolean needsHost = version.minorVersion() > 0 && !request.method().equals(HttpMethod.CONNECT);
        if (hosts.isEmpty() ? needsHost : !VALID_HOST.matcher(hosts.get(0)).matches()) {
            return HttpResponseStatus.BAD_REQUEST;
        }
        String expected = headers.get(HttpHeaderNames.EXPECT, "");
        return expected.isEmpty() || HttpHeaderValues.CONTINUE.contentEqualsIgnoreCase(expected)
                ? null
                : HttpResponseStatus.EXPECTATION_FAILED;
    }

    /** Whether the transfer coding is another than {@code chunked}. */
    private static boolean hasOtherCoding(HttpRequest request) {
        List<String> codings = request.headers().getAll(HttpHeaderNames.TRANSFER_ENCODING);
        return codings.size() > 1
                || (codings.size() == 1 && !HttpHeaderValues.CHUNKED.contentEqualsIgnoreCase(codings.get(0)));
    }

    /** Returns path and query of a target, which may be a whole URL. Null if it is neither. */
    static @Nullable String origin(HttpMethod method, String target) {
        boolean wildcard = method.equals(HttpMethod.OPTIONS) && target.equals("*");
        if (wildcard || (method.equals(HttpMethod.CONNECT) && !target.startsWith("/"))) {
            return "/";
        }
        if (target.isEmpty() || target.startsWith("?") || target.chars().anyMatch(each -> each < ' ' || each == 0x7f)) {
            return null;
        }
        if (OPAQUE.matcher(target).matches()) {
            return "/";
        }
        Matcher parts = TARGET.matcher(target);
        if (!parts.matches()) {
            return null;
        }
        return parts.group(1).startsWith("/") ? parts.group(1) : "/" + parts.group(1);
    }

    /** Returns the path of a target; as it is if it is to be raw, or cannot be decoded. */
    static String path(CharSequence target, boolean raw) {
        String text = target.toString();
        int query = text.indexOf('?');
        String path = query < 0 ? text : text.substring(0, query);
        return raw || path.indexOf('%') < 0 || BROKEN_ESCAPE.matcher(path).find()
                ? path
                : new QueryStringDecoder(path).path();
    }
}
