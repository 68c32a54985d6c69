//! Tokens to a tree, by recursive descent. Depth and length are bounded: any text is safe to parse.

use super::Flaw;
use super::ast::{Compare, Expr, Kind, Word};
use super::lex::{Token, tokens};
use crate::text::Span;

/// How deep parentheses, lists, `!`, `? :` and fields may nest.
const DEPTH: usize = 40;

/// Parses one expression that takes up the whole text.
pub fn parse(text: &str) -> Result<Expr, Flaw> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0 };
    let expr = parser.choose()?;
    match parser.peek() {
        Token::End => Ok(expr),
        _ => Err(parser.surprise("the expression ends before")),
    }
}

struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    fn next(&mut self) -> (Token, Span) {
        let token = self.tokens[self.at].clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    /// Takes a sign if it comes next.
    fn take(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(s) if *s == sign);
        if found {
            self.next();
        }
        found
    }

    fn need(&mut self, sign: &str, opened: Span) -> Result<Span, Flaw> {
        let span = self.span();
        if self.take(sign) {
            return Ok(span);
        }
        if *self.peek() == Token::End {
            return Err(Flaw::new(opened, format!("no `{sign}` closes this")));
        }
        Err(self.surprise(&format!("expected `{sign}` before")))
    }

    fn surprise(&self, expected: &str) -> Flaw {
        let message = match self.peek() {
            Token::Sign("=") => "write `==` to compare".to_owned(),
            Token::Word(w) if w == "and" => "write `&&` for and".to_owned(),
            Token::Word(w) if w == "or" => "write `||` for or".to_owned(),
            Token::Word(w) if w == "not" => "write `!` for not".to_owned(),
            Token::Sign("-") => "there is no arithmetic here".to_owned(),
            token => format!("{expected} {}", token.describe()),
        };
        Flaw::new(self.span(), message)
    }

    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, Flaw>) -> Result<T, Flaw> {
        if self.depth >= DEPTH {
            return Err(Flaw::new(self.span(), "nested too deeply"));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn choose(&mut self) -> Result<Expr, Flaw> {
        let condition = self.any()?;
        let question = self.span();
        if !self.take("?") {
            return Ok(condition);
        }
        self.deeper(|p| {
            let yes = p.any()?;
            p.need(":", question)?;
            let no = p.choose()?;
            let span = Span::new(condition.span.start, no.span.end);
            Ok(Expr { kind: Kind::Choose(Box::new(condition), Box::new(yes), Box::new(no)), span })
        })
    }

    fn any(&mut self) -> Result<Expr, Flaw> {
        self.chain("||", Parser::all, Kind::Or)
    }

    fn all(&mut self) -> Result<Expr, Flaw> {
        self.chain("&&", Parser::compare, Kind::And)
    }

    fn chain(
        &mut self,
        sign: &str,
        operand: fn(&mut Self) -> Result<Expr, Flaw>,
        kind: fn(Vec<Expr>) -> Kind,
    ) -> Result<Expr, Flaw> {
        let first = operand(self)?;
        if !matches!(self.peek(), Token::Sign(s) if *s == sign) {
            return Ok(first);
        }
        let start = first.span.start;
        let mut list = vec![first];
        while self.take(sign) {
            list.push(operand(self)?);
        }
        let end = list.last().map_or(start, |e| e.span.end);
        Ok(Expr { kind: kind(list), span: Span::new(start, end) })
    }

    fn comparison(&self) -> Option<Compare> {
        Some(match self.peek() {
            Token::Sign("==") => Compare::Equal,
            Token::Sign("!=") => Compare::Unequal,
            Token::Sign("<") => Compare::Less,
            Token::Sign("<=") => Compare::AtMost,
            Token::Sign(">") => Compare::More,
            Token::Sign(">=") => Compare::AtLeast,
            Token::Word(w) if w == "in" => Compare::In,
            _ => return None,
        })
    }

    fn compare(&mut self) -> Result<Expr, Flaw> {
        let left = self.not()?;
        let Some(op) = self.comparison() else { return Ok(left) };
        self.next();
        let right = self.not()?;
        if self.comparison().is_some() {
            return Err(Flaw::new(self.span(), "comparisons do not chain; join two with `&&`"));
        }
        let span = Span::new(left.span.start, right.span.end);
        Ok(Expr { kind: Kind::Compare(op, Box::new(left), Box::new(right)), span })
    }

    fn not(&mut self) -> Result<Expr, Flaw> {
        let start = self.span().start;
        if !self.take("!") {
            return self.postfix();
        }
        let inner = self.deeper(Parser::not)?;
        let span = Span::new(start, inner.span.end);
        Ok(Expr { kind: Kind::Not(Box::new(inner)), span })
    }

    fn postfix(&mut self) -> Result<Expr, Flaw> {
        let mut expr = self.primary()?;
        for _ in 0..DEPTH {
            let opened = self.span();
            if self.take(".") {
                let word = self.word()?;
                if self.take("(") {
                    let (args, end) = self.list(")", word.span)?;
                    let span = Span::new(expr.span.start, end);
                    let call = Kind::Call { on: Some(Box::new(expr)), function: word, args };
                    expr = Expr { kind: call, span };
                } else {
                    let span = Span::new(expr.span.start, word.span.end);
                    expr = Expr { kind: Kind::Field(Box::new(expr), word), span };
                }
            } else if self.take("[") {
                let at = self.deeper(Parser::choose)?;
                let end = self.need("]", opened)?.end;
                let span = Span::new(expr.span.start, end);
                expr = Expr { kind: Kind::Index(Box::new(expr), Box::new(at)), span };
            } else {
                return Ok(expr);
            }
        }
        Err(Flaw::new(self.span(), "nested too deeply"))
    }

    fn word(&mut self) -> Result<Word, Flaw> {
        match self.peek() {
            Token::Word(_) => match self.next() {
                (Token::Word(text), span) => Ok(Word { text, span }),
                (_, span) => Err(Flaw::new(span, "a name belongs here")),
            },
            _ => Err(self.surprise("a name belongs here, before")),
        }
    }

    /// Expressions up to a closing sign, a comma between them; also where the sign ends.
    fn list(&mut self, close: &str, opened: Span) -> Result<(Vec<Expr>, usize), Flaw> {
        let mut list = Vec::new();
        loop {
            let span = self.span();
            if (list.is_empty() || close == "]") && self.take(close) {
                return Ok((list, span.end));
            }
            list.push(self.deeper(Parser::choose)?);
            if !self.take(",") {
                return Ok((list, self.need(close, opened)?.end));
            }
        }
    }

    fn primary(&mut self) -> Result<Expr, Flaw> {
        let (token, span) = (self.peek().clone(), self.span());
        let kind = match token {
            Token::Int(i) => Kind::Int(i),
            Token::Text(text) => Kind::Text(text),
            Token::Word(word) => match word.as_str() {
                "true" => Kind::Bool(true),
                "false" => Kind::Bool(false),
                "null" => return Err(Flaw::new(span, "there is no null here; ask has(…)")),
                "in" | "and" | "or" | "not" => return Err(self.surprise("a value belongs before")),
                _ => return self.name(Word { text: word, span }),
            },
            Token::Sign("(") => {
                self.next();
                let inner = self.deeper(Parser::choose)?;
                let end = self.need(")", span)?.end;
                return Ok(Expr { kind: inner.kind, span: Span::new(span.start, end) });
            }
            Token::Sign("[") => {
                self.next();
                let (list, end) = self.list("]", span)?;
                return Ok(Expr { kind: Kind::List(list), span: Span::new(span.start, end) });
            }
            _ => return Err(self.surprise("a value belongs before")),
        };
        self.next();
        Ok(Expr { kind, span })
    }

    fn name(&mut self, word: Word) -> Result<Expr, Flaw> {
        self.next();
        let span = word.span;
        if !self.take("(") {
            return Ok(Expr { kind: Kind::Name(word.text), span });
        }
        let (args, end) = self.list(")", span)?;
        Ok(Expr { kind: Kind::Call { on: None, function: word, args }, span: Span::new(span.start, end) })
    }
}
